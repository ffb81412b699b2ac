# SPDX-License-Identifier: Apache-2.0
"""Made-up days, as crowded as those of the conformance tests: ties, jobs without run time, unlike nodes."""
import pathlib
import random

CLUSTER = """
[[vc]]
name = "red"
nodes = 3
gpus = 8
gpu_type = "V100"

[[vc]]
name = "blue"
[[vc.group]]
nodes = 2
gpus = 4
gpu_type = "V100"
[[vc.group]]
nodes = 2
gpus = 4
gpu_type = "A100"
"""
CORES = "\ncpus = 32\nmemory_gb = 64"


def write_day(folder, seed, cores=False, parts=False, jobs=120):
    """Writes a log and a cluster into `folder`; gives their paths. `cores`: a third are CPU jobs, and cores and memory run
    short; `parts`: half of the jobs of one GPU ask a part of it."""
    draw = random.Random(seed)
    rows = ["job_id,user,name,vc,submit_s,run_s,gpus,gpu_type,gpu_share,cpus,memory_gb,nodes,time_limit_s"]
    now = 0
    for job in range(jobs):
        if draw.randrange(3) > 0:
            now += draw.randrange(120)
        red = draw.randrange(2) == 0
        run = 0 if draw.randrange(20) == 0 else draw.randrange(1, 900) + draw.randrange(1000) / 1000
        gpus = draw.randrange(1, 17 if red else 9)
        share = memory = cpus = nodes = ""
        if parts and draw.randrange(2) == 0:
            gpus, share = 1, draw.randrange(1, 10) / 10
        if cores and draw.randrange(3) == 0:
            gpus, share, nodes = 0, "", draw.randrange(1, 3)
        units = max(gpus, nodes or 0)
        if cores and draw.randrange(4) > 0:
            cpus = units * draw.randrange(1, 5)
        if cores and draw.randrange(4) > 0:
            memory = units * draw.randrange(0, 8)
        kind = "V100" if gpus > 0 and draw.randrange(4) == 0 else ""
        rows.append(f"{job},{draw.choice('ab')},{draw.choice(['train', 'test'])},{'red' if red else 'blue'},{now},{run},"
                    f"{gpus},{kind},{share},{cpus},{memory},{nodes},{run + draw.randrange(200)}")
    log = pathlib.Path(folder, f"day{seed}.csv")
    log.write_text("\n".join(rows) + "\n")
    cluster = pathlib.Path(folder, f"cluster{seed}.toml")
    cluster.write_text(CLUSTER.replace("gpus = 8", "gpus = 8" + CORES).replace("gpus = 4", "gpus = 4" + CORES)
                       if cores else CLUSTER)
    return log, cluster
