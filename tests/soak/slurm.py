# SPDX-License-Identifier: Apache-2.0
"""A Slurm of four nodes that Almanac steers, and what befalls both."""
import collections
import os
import random
import signal
import subprocess
import time

JOB = """#!/bin/bash
echo "$SLURM_JOB_ID $SLURM_RESTART_COUNT" >> {log}
sleep "$1"
"""


class Slurm:
    def __init__(self, folder, build, seed, root):
        self.random = random.Random(seed)
        self.folder, self.build, self.root = folder, build, root
        self.log, self.job, self.state = f"{folder}/runs", f"{folder}/job", f"{folder}/state"
        self.did = collections.Counter()
        self.jobs = []
        os.makedirs(folder, exist_ok=True)
        open(self.log, "w").close()
        with open(self.job, "w") as file:
            file.write(JOB.format(log=self.log))
        os.chmod(self.job, 0o755)
        with open(f"{folder}/levers.toml", "w") as file:
            file.write('[levers]\norder = "on"\nplacement = "on"\n')
        self.cluster = subprocess.Popen(
            [f"{root}/tests/slurm/cluster", "run", f"{folder}/cluster"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, NODES="4", MORE="MinJobAge=3600\nBatchStartTimeout=60"))
        self.inside = None
        for line in self.cluster.stdout:
            if line.startswith("ready"):
                self.inside = line.split()[1]
                break
        if self.inside is None:
            raise RuntimeError("the Slurm did not come up")
        self.environment = dict(os.environ, SLURM_CONF=f"{folder}/cluster/etc/slurm.conf",
                                ALMANAC_SLURM_GATEWAY=f"{build}/almanac-slurm-gateway")
        self.daemon = None
        self.begin()

    def run(self, *words, patience=60):
        """A client of the cluster."""
        try:
            return subprocess.run(["nsenter", "-t", self.inside, "-n", *words], text=True,
                                  capture_output=True, timeout=patience, env=self.environment)
        except subprocess.TimeoutExpired:
            self.did["questions without an answer"] += 1
            return subprocess.CompletedProcess(words, 1, "", "no answer")

    def begin(self):
        with open(f"{self.folder}/daemon.log", "a") as log:
            self.daemon = subprocess.Popen(
                ["nsenter", "-t", self.inside, "-n", f"{self.build}/almanac", "serve", "--engine",
                 "slurm", "--state", self.state, "--policy", "sjf+limit", "--levers",
                 f"{self.folder}/levers.toml"],
                env=self.environment, stdout=log, stderr=log, start_new_session=True)

    def keep(self):
        if self.daemon.poll() is not None:
            self.did["starts of the daemon"] += 1
            self.begin()

    def submit(self):
        roll = self.random
        tasks = roll.choice([1, 1, 1, 4])
        words = ["sbatch", "--parsable", "-o", "/dev/null", "-N", str(roll.choice([1, 1, 2])),
                 f"--gres=gpu:{roll.choice([1, 4, 8])}", "-t", str(roll.randint(1, 30))]
        if tasks > 1:
            words += ["--array", f"0-{tasks - 1}"]
        said = self.run(*words, self.job, str(roll.choice([0, 1, 5])))
        self.did["submissions"] += 1
        if said.returncode == 0:
            self.jobs.append((int(said.stdout.strip().split(";")[0]), tasks))
            self.did["jobs acknowledged"] += tasks

    def kill_ours(self):
        """Daemon and gateway at once, so that none releases anything."""
        os.killpg(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()
        self.did["kill -9 of daemon and gateway"] += 1

    def kill_gateway(self):
        subprocess.run(["pkill", "-9", "-P", str(self.daemon.pid)], check=False)
        self.did["kill -9 of the gateway"] += 1

    def restart_controller(self):
        with open(f"{self.folder}/cluster/run/slurmctld.pid") as file:
            number = file.read().strip()
        within = [f"{self.root}/tests/slurm/cluster", "within", self.inside]
        subprocess.run([*within, "kill", number], check=False)
        time.sleep(self.random.uniform(2, 6))
        subprocess.run([*within, "slurmctld"], check=False, env=self.environment,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.did["restarts of slurmctld"] += 1

    def turn_lever(self):
        lever = self.random.choice(["order", "placement"])
        for how in ("off", "on"):
            subprocess.run([f"{self.build}/almanac", "slurm", "levers", lever, how, "--state",
                            self.state], check=False, capture_output=True)
            time.sleep(self.random.uniform(1, 4))
        self.did["levers turned off and on"] += 1

    def ill_treat(self):
        what = self.random.choices(
            [self.kill_ours, self.kill_gateway, self.restart_controller, self.turn_lever],
            [6, 2, 1, 2])[0]
        what()

    def waiting(self):
        """What squeue tells of jobs that wait: number, comment of an administrator, reason."""
        said = self.run("squeue", "-h", "-t", "PD", "-O", "jobid:|,admin_comment:|,reason:|")
        if said.returncode != 0:
            return None
        return [tuple(word.strip() for word in line.split("|")[:3])
                for line in said.stdout.splitlines()]

    def finish(self, patience_s):
        """All of ours is killed for good: what was held must start by itself, and all jobs end."""
        wrong = []
        self.kill_ours()
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            said = self.run("squeue", "-h", "-o", "%i")
            if said.returncode == 0 and not said.stdout.strip():
                break
            time.sleep(2)
        else:
            wrong.append(f"with all of ours killed {len(self.waiting() or [])} jobs wait still")
        # What undo leaves: jobs that wait, placed and ordered, and then all taken back.
        blocker = self.run("sbatch", "--parsable", "-N", "4", "--gres=gpu:8", "-o", "/dev/null",
                           "--wrap", "sleep 600").stdout.strip()
        time.sleep(5)
        for _ in range(5):
            self.run("sbatch", "-N", "1", "--gres=gpu:8", "-t", "5", "-o", "/dev/null", "--wrap",
                     "true")
        self.begin()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            waits = self.waiting() or []
            if waits and all(comment.startswith("placed by almanac") for _, comment, _ in waits):
                self.did["jobs held before the undo"] = len(waits)
                break
            time.sleep(1)
        else:
            wrong.append("the lever placement did not hold what waits")
        undone = subprocess.run([f"{self.build}/almanac", "slurm", "undo", "--state", self.state],
                                capture_output=True, text=True, check=False)
        if undone.returncode != 0:
            wrong.append(f"undo: {undone.stderr.strip()}")
        time.sleep(3)
        for job, comment, reason in self.waiting() or []:
            if "almanac" in comment or reason == "BeginTime":
                wrong.append(f"undo left job {job}: {comment} {reason}")
        factors = self.run("sprio", "-h", "-o", "%i %Y %S")
        for line in factors.stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[2] not in ("0", "(null)"):
                wrong.append(f"undo left job {words[0]} the site factor {words[2]}")
        self.run("scancel", blocker)
        return wrong

    def judge(self):
        runs = collections.Counter()
        with open(self.log) as file:
            for line in file:
                runs[line.split()[0]] += 1
        wrong = [f"job {job} of the Slurm began {count} times" for job, count in runs.items()
                 if count > 1]
        wanted = sum(tasks for _, tasks in self.jobs)
        self.did["jobs that ran"] = len(runs)
        if len(runs) != wanted:
            wrong.append(f"{wanted} jobs were acknowledged by the Slurm and {len(runs)} ran")
        return wrong

    def end(self):
        self.kill_ours()
        self.cluster.stdin.close()
        self.cluster.wait(60)
