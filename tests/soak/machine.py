# SPDX-License-Identifier: Apache-2.0
"""One machine as a cluster: a service, its users, and what befalls it."""
import collections
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

GPUS = 16
# So many jobs that wait or run are enough: what comes faster than it ends is a queue that never empties.
MOST_WAITING = 500
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
USERS = [("root", 0, 0), ("daemon", 1, 1), ("games", 5, 60), ("nobody", 65534, 65534)]
VICTIM, HOSTILE = USERS[1], USERS[2]
SECRET = "password=hunter2"
HERE = os.path.dirname(os.path.realpath(__file__))

# Says when it begins and ends, and locks its GPUs: a lock that is taken is a GPU that is held twice.
JOB = """#!/bin/bash
echo "begins $ALMANAC_JOB_ID $ALMANAC_ATTEMPT" >> {log}
exec 7>/dev/null
for gpu in ${{CUDA_VISIBLE_DEVICES//,/ }}; do
  exec {{lock}}>>{locks}/$gpu
  flock -n $lock || echo "twice $ALMANAC_JOB_ID $gpu" >> {log}
done
sleep "$1"
echo "ends $ALMANAC_JOB_ID $ALMANAC_ATTEMPT" >> {log}
"""


class Machine:
    def __init__(self, folder, build, seed, kills_all=False):
        self.random = random.Random(seed)
        self.folder, self.build, self.kills_all = folder, build, kills_all
        self.disk, self.state = f"{folder}/disk", f"{folder}/disk/state"
        self.log, self.job = f"{folder}/runs", f"{folder}/job"
        # One that learns from thousands of jobs has not done so within a second, and starts none.
        self.policy = ["--policy", "fifo"] if kills_all else []
        self.did = collections.Counter()
        self.acknowledged, self.requeues, self.cancelled = set(), set(), set()
        self.arrays = {}  # by their first number
        self.left = 0  # that wait or run, when that was last told
        self.theirs = []  # first numbers of a hostile user's arrays
        self.wrong = []  # what did not hold while it was tried
        self.answers_s = {}  # how long others waited for an answer, by what was done meanwhile
        self.lock = threading.Lock()
        self.service = None
        for each in (self.disk, f"{folder}/locks", f"{folder}/victim"):
            os.makedirs(each)
        with open(f"{folder}/victim/secret", "w") as file:  # command lines are shown to everybody
            file.write(f"RuntimeError: CUDA error: {SECRET}\n")
        for each in (f"{folder}/victim", f"{folder}/victim/secret"):
            os.chown(each, VICTIM[1], VICTIM[2])
        os.chmod(f"{folder}/victim", 0o700)
        with socket.create_server(("127.0.0.1", 0)) as any_port:
            self.port = any_port.getsockname()[1]
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "soak", self.disk], check=True)
        os.chmod(self.disk, 0o755)
        for gpu in range(GPUS):
            open(f"{folder}/locks/{gpu}", "w").close()
            os.chmod(f"{folder}/locks/{gpu}", 0o666)
        open(self.log, "w").close()
        os.chmod(self.log, 0o666)
        with open(self.job, "w") as file:
            file.write(JOB.format(log=self.log, locks=f"{folder}/locks"))
        os.chmod(self.job, 0o755)
        with open(f"{folder}/limits.toml", "w") as file:
            file.write("[user]\nsubmissions_per_minute = 100000\n")
        self.begin()

    def begin(self):
        preload = [f"{self.build}/soak/slow_here.so"]
        if os.path.exists(FAKETIME):
            preload.append(FAKETIME)
        environment = dict(
            os.environ, LD_PRELOAD=" ".join(preload), SLOW_MS=f"{self.folder}/slow_ms",
            FAKETIME_TIMESTAMP_FILE=f"{self.folder}/clock", FAKETIME_NO_CACHE="1",
            FAKETIME_DONT_FAKE_MONOTONIC="1")
        if not os.path.exists(f"{self.folder}/clock"):
            self.set_clock("+0")
        with open(f"{self.folder}/service.log", "a") as log:
            self.service = subprocess.Popen(
                [f"{self.build}/almanac", "serve", "--gpus", str(GPUS), "--state", self.state,
                 "--limits", f"{self.folder}/limits.toml", "--max-grace", "5s",
                 "--listen", f"127.0.0.1:{self.port}", *self.policy],
                env=environment, stdout=log, stderr=log, start_new_session=True)

    def keep(self):
        """As a supervisor would: begins it again when it is dead."""
        if self.service.poll() is not None:
            self.did["starts of the service"] += 1
            self.begin()

    def set_clock(self, offset):
        with open(f"{self.folder}/clock.new", "w") as file:
            file.write(offset + "\n")
        os.replace(f"{self.folder}/clock.new", f"{self.folder}/clock")

    def almanac(self, *words, user=USERS[0], patience=30):
        end = words.index("--") if "--" in words else len(words)
        socket = ["--socket", f"{self.state}/almanac.sock"]
        try:
            return subprocess.run(
                [f"{self.build}/almanac", *words[:end], *socket, *words[end:]],
                capture_output=True, text=True, timeout=patience, cwd="/", user=user[1],
                group=user[2], extra_groups=[], env={"PATH": "/usr/bin:/bin"})
        except subprocess.TimeoutExpired:
            self.did["questions without an answer"] += 1
            return None

    def submit(self):
        roll = self.random
        if self.left > MOST_WAITING:
            queue = self.queue()
            if queue is not None:
                self.left = len(queue)
            return
        words = ["submit", "--parsable", "-o", "/dev/null", "--grace", "1s",
                 "--gpus", str(roll.choice([0, 1, 1, 1, 2, 4]))]
        tasks = roll.choice([1, 1, 5, 20, 60])
        if tasks > 1:
            words += ["--array", f"0-{tasks - 1}%{roll.choice([2, 8, 64])}"]
        requeues = roll.random() < 0.3
        if requeues:
            words.append("--requeue")
        if roll.random() < 0.1:
            words += ["--begin", "now+5s"]
        lengths = [0, 0, 0, 0.1, 0.3] if self.kills_all else [0, 0, 0.1, 0.5, 2]
        words += ["--", self.job, str(roll.choice(lengths))]
        said = self.almanac(*words, user=roll.choice(USERS))
        self.did["submissions"] += 1
        if said is None or said.returncode != 0:
            self.did["submissions refused, or without an answer"] += 1
            return
        first = int(said.stdout.strip())
        with self.lock:
            numbers = range(first, first + tasks)
            self.acknowledged.update(numbers)
            self.arrays[first] = numbers
            self.requeues.update(numbers if requeues else ())
        self.did["jobs acknowledged"] += tasks
        self.left += tasks  # more than there are, until it is asked

    def queue(self):
        """The jobs that wait or run; None = the service does not tell."""
        said = self.almanac("queue", "-o", "json")
        if said is None or said.returncode != 0:
            return None
        return json.loads(said.stdout)["jobs"]

    def trouble_jobs(self):
        with self.lock:
            if not self.acknowledged:
                return
            number = self.random.choice(sorted(self.acknowledged)[-200:])
        how = self.random.choice(["cancel", "cancel", "hold", "requeue"])
        if how == "cancel":
            self.cancelled.add(number)
        said = self.almanac(how, str(number))
        if how == "requeue":
            self.requeues.update(self.arrays.get(number, [number]))  # an array's number is all of it
        if said is not None and said.returncode == 0:
            self.did[f"{how}s"] += 1
        if how == "hold":
            self.almanac("release", str(number))

    def processes(self, word):
        """The numbers of our processes whose command line has the word, but for the service's."""
        made = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == self.service.pid:
                continue
            try:
                with open(f"/proc/{name}/cmdline") as file:
                    line = file.read().replace("\0", " ")
            except OSError:
                continue
            if word in line and self.folder in line:
                made.append(int(name))
        return made

    def kill(self, what, numbers):
        for number in numbers:
            try:
                os.kill(number, signal.SIGKILL)
                self.did[f"kill -9 of {what}"] += 1
            except ProcessLookupError:
                pass

    def kill_service(self):
        self.kill("the service", [self.service.pid])
        self.service.wait()

    def kill_shepherd(self):
        there = self.processes("almanac-shepherd")
        self.kill("a shepherd", self.random.sample(there, min(1, len(there))))

    def jobs_of_shepherds(self):
        shepherds = self.processes("almanac-shepherd")
        return [each for each in self.processes(self.job) if each not in shepherds]

    def kill_job(self):
        there = self.jobs_of_shepherds()
        self.kill("a job", self.random.sample(there, min(1, len(there))))

    def kill_everything(self):
        self.kill_service()
        self.kill("a shepherd", self.processes("almanac-shepherd"))
        self.kill("a job", self.jobs_of_shepherds())

    def restart(self):
        self.service.terminate()
        try:
            self.service.wait(30)
            self.did["restarts"] += 1
        except subprocess.TimeoutExpired:
            self.did["restarts that took more than 30 s"] += 1
            self.kill_service()

    def fill_disk(self, while_full=None):
        self.did["full disks"] += 1
        try:
            with open(f"{self.disk}/full", "wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 20))
        except OSError:
            pass
        refused = while_full() if while_full else None
        if refused is not None and refused.returncode != 0 and self.ask("/healthz") == 200:
            self.wrong.append("/healthz does not know that the disk is full")
        time.sleep(self.random.uniform(0.5, 3))
        os.remove(f"{self.disk}/full")

    def slow_disk(self):
        self.did["slow disks"] += 1
        with open(f"{self.folder}/slow_ms", "w") as file:
            file.write(self.random.choice(["50", "300", "1000"]))
        time.sleep(self.random.uniform(1, 4))
        os.remove(f"{self.folder}/slow_ms")

    def jump(self):
        if not os.path.exists(FAKETIME):
            return
        self.did["jumps of the clock"] += 1
        self.set_clock(self.random.choice(["+1h", "-1h", "+2d", "-2d", "+400d"]))
        time.sleep(self.random.uniform(0.5, 3))
        self.set_clock("+0")

    def change_policy(self):
        name = self.random.choice(["fifo", "qssf", "sjf+limit", "easy", "las"])
        said = self.almanac("policy", "set", name)
        if said is not None and said.returncode == 0:
            self.did["changes of policy"] += 1

    def begin_ahead(self):
        """The clock jumps, jobs run on, and the service begins again: no time limit has passed."""
        if not os.path.exists(FAKETIME):
            return
        for offset, after in (("+2h", "+2h"), ("+3d", "+0")):
            said = self.almanac("submit", "--parsable", "-o", "/dev/null", "--grace", "1s", "--time",
                                "1:00:00", "--", "sleep", "8")
            if said is None or said.returncode != 0:
                continue
            self.set_clock(offset)
            self.almanac("submit", "--parsable", "-o", "/dev/null", "--grace", "1s", "--", "true")
            time.sleep(1)
            self.set_clock(after)
            self.kill_service()
            self.keep()
            time.sleep(6)
            self.did["starts of the service with another clock"] += 1
            job = self.job_of(said.stdout.strip())
            if job is not None and "outside" in job.get("reason", ""):
                self.wrong.append(f"job {job['job_id']} was killed by a clock that was {offset}")
            self.set_clock("+0")

    def job_of(self, number):
        said = self.almanac("show", number, "-o", "json")
        return json.loads(said.stdout) if said is not None and said.returncode == 0 else None

    def ask(self, path):
        """Status of an answer; 0 = none."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        with contextlib.closing(connection):
            try:
                connection.sock.settimeout(60)
                connection.sock.connect(f"{self.state}/almanac.sock")
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                return answer.status
            except (OSError, http.client.HTTPException):
                return 0

    def hostile(self):
        """Another user's harm, and what one who only looks hears meanwhile."""
        command = f"cat {self.folder}/victim/secret; exit 1"
        said = self.almanac("submit", "--parsable", "-o", f"{self.folder}/victim/log-%j", "--grace",
                            "1s", "--", "sh", "-c", command, user=VICTIM)
        if said is None or said.returncode != 0:
            return
        time.sleep(2)  # until its log was read
        self.as_hostile("a hostile user", "hostile.py", str(self.port), said.stdout.strip(), SECRET)

    def burst(self):
        """Hundreds of clients of one user at once: each is answered, told that there are too many, or cut off."""
        self.as_hostile("a burst", "burst.py", "200")

    def as_hostile(self, what, name, *words):
        """Runs a script of ours as the hostile user, and an ordinary client beside it."""
        with self.watched(what):
            told = subprocess.run(
                [sys.executable, f"{HERE}/{name}", str(HOSTILE[1]), str(HOSTILE[2]),
                 f"{self.state}/almanac.sock", *words],
                capture_output=True, text=True, check=False, cwd="/")
        if told.returncode != 0:
            self.wrong.append(f"{what} fell over: {told.stderr[-500:]}")
            return
        told = json.loads(told.stdout)
        self.did.update(told["did"])
        self.did[f"rounds of {what}"] += 1
        self.wrong += told["wrong"]
        self.theirs += told["mine"]

    @contextlib.contextmanager
    def watched(self, what):
        """Asks once in a while, as one who has nothing to do with it, and counts how long that takes."""
        stop = threading.Event()

        def look():
            while not stop.wait(0.05):
                began = time.monotonic()
                if self.ask("/v1/overview"):
                    self.answers_s.setdefault(what, []).append(time.monotonic() - began)

        looks = threading.Thread(target=look)
        looks.start()
        try:
            yield
        finally:
            stop.set()
            looks.join()

    def know_full_disk(self):
        """A disk that is full is known at once, and so is one that has room again."""
        self.fill_disk(lambda: self.almanac("submit", "--parsable", "-o", "/dev/null", "--grace", "1s",
                                            "--", "true"))
        for _ in range(100):
            if self.ask("/healthz") == 200:
                return
            self.keep()
            time.sleep(0.1)
        self.wrong.append("/healthz does not know that the disk has room again")

    def ill_treat(self, act=""):
        """Something of all that, or all at once. `act` says of which there is most for now."""
        if self.kills_all:
            return self.kill_everything()
        if act and self.random.random() < 0.5:
            return {"storm": self.kill_everything, "clock": self.begin_ahead,
                    "disk": self.know_full_disk, "hostile": self.hostile, "burst": self.burst}[act]()
        what = self.random.choices(
            [self.kill_service, self.kill_shepherd, self.kill_job, self.restart, self.fill_disk,
             self.slow_disk, self.jump, self.change_policy, self.trouble_jobs],
            [10, 3, 4, 2, 1, 1, 1, 2, 8])[0]
        what()

    def finish(self, patience_s):
        """Lets all end in peace; false where none ends, nor can be asked about, for so long."""
        self.set_clock("+0")
        for number in self.theirs:  # what a cancel that was cut off has left
            self.almanac("cancel", str(number), user=HOSTILE)
        least, since = None, time.monotonic()
        while time.monotonic() - since < patience_s:
            self.keep()
            left = self.queue()
            if left == []:
                return True
            if left is not None and (least is None or len(left) < least):
                least, since = len(left), time.monotonic()
            for each in left or []:  # what a hold that was cut off has left
                if each["held"]:
                    self.almanac("release", str(each["number"]))
            time.sleep(1)
        return False

    def jobs(self):
        """All there ever were. The API tells them by pages; what the command prints is one."""
        made, after, until = [], 0, time.monotonic() + 60
        while after is not None:
            connection = http.client.HTTPConnection("localhost")
            connection.sock = socket.socket(socket.AF_UNIX)
            with contextlib.closing(connection):
                connection.sock.settimeout(300)
                connection.sock.connect(f"{self.state}/almanac.sock")
                connection.request("GET", f"/v1/jobs?since=0&after={after}")
                answer = connection.getresponse()
                page = json.load(answer)
            if answer.status == 503 and time.monotonic() < until:  # the store is locked just now
                self.did["answers that had to be asked for again"] += 1
                time.sleep(0.5)
                continue
            if answer.status != 200:
                raise OSError(f"status {answer.status}: {page}")
            made += page["jobs"]
            after = page.get("next")
        return made

    def judge(self):
        """What did not hold, a line each."""
        try:
            known = {each["number"]: each for each in self.jobs()}
        except OSError as error:
            return [f"the service tells no jobs: {error}"]
        began, ended, wrong = collections.Counter(), collections.Counter(), list(self.wrong)
        with open(self.log) as file:
            for line in file:
                word, job, rest = line.split()
                if word == "begins":
                    began[job, rest] += 1
                elif word == "ends":
                    ended[job, rest] += 1
                else:
                    wrong.append(f"GPU {rest} was held twice, the second time by job {job}")
        wrong += [f"job {job} began {count} times as attempt {attempt}"
                  for (job, attempt), count in began.items() if count > 1]
        states = collections.Counter()
        for number in sorted(self.acknowledged):
            job = known.get(number)
            if job is None:
                wrong.append(f"job {number} was acknowledged and is lost")
                continue
            name, state, attempts = job["job_id"], job["state"], job["attempts"]
            states[state] += 1
            names = {str(number), name}  # as the job itself and as users call it
            if state == "COMPLETED" and sum(ended[each, str(attempts)] for each in names) != 1:
                wrong.append(f"job {name} is COMPLETED and attempt {attempts} has no end")
            if state in ("PENDING", "RUNNING"):
                wrong.append(f"job {name} is {state} still: {job.get('reason', '')}")
            # An attempt whose shepherd was killed as it began may be no run.
            ran = sum(count for (each, _), count in began.items() if each in names)
            if ran > 1 and number not in self.requeues:
                wrong.append(f"job {name} ran {ran} times and was not to run again")
        self.did.update({f"jobs {state}": count for state, count in states.items()})
        wrong += [f"process {each} is left" for each in self.processes("almanac-shepherd")]
        return wrong

    def end(self):
        self.service.terminate()
        try:
            self.service.wait(30)
        except subprocess.TimeoutExpired:
            self.kill_service()
        self.kill("what was left", self.processes(self.folder))
        shutil.copytree(self.state, f"{self.folder}/state", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.sock"))
        subprocess.run(["umount", "-l", self.disk], check=False)
