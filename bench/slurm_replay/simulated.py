# SPDX-License-Identifier: Apache-2.0
"""The waits that the simulator has for arrivals that slurm_replay prepare wrote."""
import csv
import os
import subprocess
import tempfile


def mean_wait_s(nodes, arrivals, policy, more_s):
    """Of `nodes` with 8 GPUs each, where each job runs more_s() seconds longer. $ALMANAC is the
    program."""
    with open(arrivals, newline="") as file, tempfile.NamedTemporaryFile("w", suffix=".csv") as longer:
        jobs = csv.DictReader(file)
        out = csv.DictWriter(longer, jobs.fieldnames)
        out.writeheader()
        for job in jobs:
            out.writerow(job | {"run_s": f"{float(job['run_s']) + more_s():.3f}"})
        longer.flush()
        command = [os.environ.get("ALMANAC", "almanac"), "simulate", longer.name,
                   "--cluster", f"{nodes}x8", "--policy", policy, "-o", "csv"]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(next(csv.DictReader(told.splitlines()))["avg_wait_s"])
