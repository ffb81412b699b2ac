#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a workload like that of Synergy's simulator (Mohan et al., OSDI'22), as its logs are written.

    bench/synergy_workload.py SEED JOBS_PER_HOUR IMAGE,LANGUAGE,SPEECH JOBS > FILE

Jobs of one GPU come as a Poisson process. A fifth runs for 10^U(3, 4) minutes, the others for
10^U(1.5, 3), each with a proportional share. The kind that lacks most of its part of all jobs so far
comes next, and its models take turns. The draws are ours: the published trace is not to be had.
"""
import math
import random
import sys

MODELS = (("alexnet", "res18", "res50", "mobilenet", "shufflenet"),
          ("gnmt", "transformer", "lstm"),
          ("m5", "deepspeech"))
SECONDS_AN_ITERATION = {"alexnet": .6, "shufflenet": .615, "res18": .64, "mobilenet": .71,
                        "res50": .78, "m5": .6, "deepspeech": .757, "gnmt": .12,
                        "transformer": .67, "lstm": .011}


def main():
    seed, load, jobs = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[4])
    parts = [float(part) for part in sys.argv[3].split(",")]
    draw = random.Random(seed)
    so_far = [0, 0, 0]
    now = 0
    for job in range(jobs):
        now += math.ceil(-math.log(1 - draw.random()) / load * 3600)
        lacks = [part - 100 * had / max(1, job) if part else -math.inf
                 for part, had in zip(parts, so_far)]
        kind = lacks.index(max(lacks))
        model = MODELS[kind][so_far[kind] % len(MODELS[kind])]
        so_far[kind] += 1
        long = draw.random() < .2
        seconds = 60 * 10 ** (draw.uniform(3, 4) if long else draw.uniform(1.5, 3))
        print(f"{job},{model},{now},{int(seconds / SECONDS_AN_ITERATION[model])},1")


main()
