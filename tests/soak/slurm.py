# SPDX-License-Identifier: Apache-2.0
"""A Slurm of four nodes that Almanac steers, and what befalls both."""
import collections
import json
import os
import random
import signal
import subprocess
import time

JOB = """#!/bin/bash
echo "$SLURM_JOB_ID $SLURM_RESTART_COUNT" >> {log}
sleep "$1"
"""


LEVERS = ["order", "placement"]
# A job that may not run again and ended in one of these may never have begun.
LOST_WITH_ITS_NODE = {"NODE_FAIL", "BOOT_FAIL"}
NOT_NOW = {66, 69}  # exit statuses: the daemon has written no status yet; the folder is locked just now


class Slurm:
    def __init__(self, folder, build, seed, root):
        self.random = random.Random(seed)
        self.folder, self.build, self.root = folder, build, root
        self.log, self.job, self.state = f"{folder}/runs", f"{folder}/job", f"{folder}/state"
        self.did = collections.Counter()
        self.jobs = []  # first number, tasks, whether Slurm may run them again
        self.wrong = set()  # what did not hold while it was tried
        os.makedirs(folder, exist_ok=True)
        open(self.log, "w").close()
        with open(self.job, "w") as file:
            file.write(JOB.format(log=self.log))
        os.chmod(self.job, 0o755)
        with open(f"{folder}/levers.toml", "w") as file:
            file.write("[levers]\n" + "".join(f'{each} = "on"\n' for each in LEVERS))
        self.cluster = subprocess.Popen(
            [f"{root}/tests/slurm/cluster", "run", f"{folder}/cluster"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, NODES="4", MORE="MinJobAge=86400\nBatchStartTimeout=60"))
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
        runs_again = roll.random() < 0.5
        words.append("--requeue" if runs_again else "--no-requeue")
        if tasks > 1:
            words += ["--array", f"0-{tasks - 1}"]
        said = self.run(*words, self.job, str(roll.choice([0, 1, 5])))
        self.did["submissions"] += 1
        if said.returncode == 0:
            self.jobs.append((int(said.stdout.strip().split(";")[0]), tasks, runs_again))
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
        lever = self.random.choice(LEVERS)
        for how in ("off", "on"):
            self.set_lever(lever, how)
            time.sleep(self.random.uniform(1, 4))
        self.did["levers turned off and on"] += 1

    def set_lever(self, lever, how):
        """A folder that the daemon keeps locked for a moment is asked again."""
        for _ in range(60):
            said = subprocess.run([f"{self.build}/almanac", "slurm", "levers", lever, how, "--state",
                                   self.state], check=False, capture_output=True, text=True)
            if said.returncode == 0:
                return
            if said.returncode not in NOT_NOW:
                break
            self.did["levers that were locked"] += 1
            time.sleep(0.5)
        self.wrong.add(f"lever {lever} cannot be turned {how}: {said.stderr.strip()}")

    def told(self, name):
        """A JSON file of the state folder; empty until the daemon has written it."""
        try:
            with open(f"{self.state}/{name}") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def look_at_levers(self):
        """We turn levers on and off only: one that is dry has switched itself."""
        switches, status = self.told("levers.json"), self.told("status.json")
        levers = {each["name"]: each["how"] for each in status.get("manager", {}).get("levers", [])}
        for lever in LEVERS:
            if "dry" in (levers.get(lever), switches.get(lever)):
                self.wrong.add(f"lever {lever} switched itself to dry: "
                               f"{'; '.join(status.get('warnings', [])) or 'no warning says why'}")
            self.did[f"looks at lever {lever}, {levers.get(lever, 'unknown')}"] += 1

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

    def known(self):
        """Slurm's states of all jobs, by the number that sbatch printed; MinJobAge keeps those that ended."""
        said = self.run("scontrol", "show", "job", "-o")
        made = collections.defaultdict(dict)
        for line in said.stdout.splitlines():
            told = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if "JobId" in told:
                made[told.get("ArrayJobId", told["JobId"])][told["JobId"]] = told["JobState"]
        return made

    def judge(self):
        attempts = collections.Counter()  # of a job, by how often it was requeued before
        with open(self.log) as file:
            for line in file:
                number, *restarts = line.split()
                attempts[number, restarts[0] if restarts else "0"] += 1
        wrong = sorted(self.wrong)
        wrong += [f"job {number} of the Slurm began {count} times as its run {int(restarts) + 1}"
                  for (number, restarts), count in attempts.items() if count > 1]
        runs = collections.Counter()
        for (number, _), count in attempts.items():
            runs[number] += count
        self.did["jobs that ran"] = len(runs)
        self.did["jobs that Slurm ran again"] = sum(count > 1 for count in runs.values())
        known = self.known()
        for first, tasks, runs_again in self.jobs:
            states = known.get(str(first), {})
            if len(states) != tasks:
                wrong.append(f"the Slurm acknowledged {tasks} tasks of job {first} and knows {len(states)}")
            for number, state in states.items():
                if runs[number] > 1 and not runs_again:
                    wrong.append(f"job {number} of the Slurm ran {runs[number]} times and must not run again")
                if runs[number] == 0 and (runs_again or state not in LOST_WITH_ITS_NODE):
                    wrong.append(f"job {number} of the Slurm is {state} and never ran")
        for lever in LEVERS:
            if not self.did[f"looks at lever {lever}, on"]:
                wrong.append(f"lever {lever} was never seen on: nothing was tried")
        return wrong

    def end(self):
        self.kill_ours()
        self.cluster.stdin.close()
        self.cluster.wait(60)
