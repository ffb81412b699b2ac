#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs of sacct that are right in meaning and odd in form, read by the program and by a second
reader (slow_sacct.py): both must find the same jobs, and those that were written.

usage: sacct_fuzz_test.py [LOGS [FIRST_SEED]]   ALMANAC_PROGRAM names the program
"""
import csv
import datetime
import os
import random
import subprocess
import sys
import tempfile
import zoneinfo

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
import slow_sacct

PROGRAM = os.environ.get("ALMANAC_PROGRAM", "almanac")
NEEDED = ["User", "Partition", "JobName", "Submit", "Start", "End", "State"]
EXTRA = ["Constraints", "SubmitLine", "Comment", "Priority", "ExitCode", "WorkDir", "Account", "QOS",
         "ReqTRES", "NNodes", "AllocCPUS", "Reason", "ReqMem", "MaxRSS", "TotalCPU", "Invented"]
USERS = ["ann", "bob", "cem", "d.e-f", "LAB\\gus"]
NAMES = ["train", "eval", "prep data", "x", "run_7", "a=b,c"]
ENDS = {"COMPLETED": ["COMPLETED", "COMPLETED,COMPLETING", "COMPLETED"],
        "FAILED": ["FAILED", "OUT_OF_MEMORY", "OUT_OF_ME+"],
        "CANCELLED": ["CANCELLED by 1000", "CANCELLED by ann", "CANCELLED", "CANCELLED+", "REVOKED"],
        "TIMEOUT": ["TIMEOUT", "DEADLINE"], "NODE_FAIL": ["NODE_FAIL", "BOOT_FAIL"],
        "PREEMPTED": ["PREEMPTED"], "": ["LAUNCH_FAILED", "EXPEDITING", "STAGE_OUT", "NEWER_STATE"]}
NO_COUNT = ["Unknown", "4294967294", "4294967295", "18446744073709551614", "None"]
NO_LIMIT = ["UNLIMITED", "Partition_Limit", "4294967295", "4294967294", "INVALID"]
NO_TIME = ["Unknown", "None", "N/A", "1970-01-01T00:00:00"]
ODD_TEXTS = ["lr=1|wd=0", "a || b", "two\nlines", "one\n\nthree | x", "|", "ends|", "'q' \"r\""]


class Log:
    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        # Nights in which clocks are changed are among the days.
        self.day = pick(["2025-10-25T22:00", "2025-03-29T20:00", "2026-01-05T08:00", "2025-11-02T03:00"])
        self.zone = pick([None, "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
        self.style = pick(["local", "local", "local", "epoch", "offset"])
        if self.style != "local":
            self.zone = None
        self.delimiter = pick(["|", "|", "|", "|", ";", "^", "~~", "\t"])
        self.raw = pick([True, True, False])
        self.columns = NEEDED + [pick(["AllocTRES", "AllocTRES", "AllocGRES"])]
        self.columns += ["ElapsedRaw", "TimelimitRaw"] if self.raw else ["Elapsed", "Timelimit"]
        self.columns += self.random.sample(EXTRA, self.random.randrange(0, 7))
        self.random.shuffle(self.columns)
        self.columns.insert(0 if self.random.random() < 0.8 else self.random.randrange(4), "JobID")
        self.oddness = pick([0, 0.05, 0.2])
        self.truth = {}
        self.rows = []
        self.make()

    def chance(self, share):
        return self.random.random() < share

    def time(self, at):
        if at is None:
            return self.random.choice(NO_TIME)
        if self.style == "epoch":
            return str(int(at))
        zone = zoneinfo.ZoneInfo(self.zone or "UTC")
        shown = datetime.datetime.fromtimestamp(at, zone)
        return shown.strftime("%Y-%m-%dT%H:%M:%S" + ("%z" if self.style == "offset" else ""))

    def clock(self, seconds):
        days, rest = divmod(int(seconds), 86400)
        text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
        return f"{days}-{text}" if days else text

    def tres(self, job):
        if "AllocGRES" in self.columns:
            gpus = job["gpus"]
            gres = [f"gpu:{gpus}", f"gpu:{job['type']}:{gpus}", f"gpu:{job['type']}:{gpus}(S:0-1)",
                    f"7696487:{gpus}", f"gpu:{gpus}(IDX:0,1)"]
            return self.random.choice(gres) if gpus else ""
        memory = job["memory_gb"]
        items = [f"cpu={job['cpus']}", f"node={job['nodes']}", "billing=8",
                 self.random.choice([f"mem={memory}G", f"mem={memory * 1024}M",
                                     f"mem={memory * 1024 * 1024}K", f"mem={memory * 1024}"]),
                 "energy=18446744073709551614"]
        if job["gpus"]:
            one = [f"gres/gpu={job['gpus']}"]
            typed = [f"gres/gpu:{job['type']}={job['gpus']}"]
            items += self.random.choice([one, typed, one + typed])
        self.random.shuffle(items)
        return ",".join(items)

    def cell(self, column, job, run):
        if column in ("Submit", "Start", "End"):
            return self.time(run[column.lower()])
        if column in ("Elapsed", "ElapsedRaw"):
            return self.clock(run["run"]) if column == "Elapsed" else str(int(run["run"]))
        if column in ("Timelimit", "TimelimitRaw"):
            if job["limit"] is None:
                return self.random.choice(NO_LIMIT if column == "TimelimitRaw" else NO_LIMIT[:2])
            return self.clock(job["limit"]) if column == "Timelimit" else str(job["limit"] // 60)
        if column in ("JobName", "Comment", "SubmitLine", "Invented"):
            text = job["name"] if column == "JobName" else self.random.choice(["", "sbatch job.sh"])
            if self.chance(self.oddness) and (self.delimiter == "|" or column != "JobName"):
                return text + self.random.choice(ODD_TEXTS)
            return text
        simple = {"JobID": job["id"], "User": job["user"], "Partition": job["vc"],
                  "State": run["word"], "AllocTRES": self.tres(job), "AllocGRES": self.tres(job),
                  "Account": "lab", "QOS": "normal", "ReqTRES": self.tres(job),
                  "ExitCode": "0:0", "WorkDir": "/home/" + job["user"], "Reason": "None",
                  "Constraints": self.random.choice(["", "", "a100", "a100|h100", "[r1|r2]"]),
                  "Priority": self.random.choice(["4294901", *NO_COUNT]),
                  "NNodes": self.random.choice([str(job["nodes"]), *NO_COUNT, "65534"]),
                  "AllocCPUS": self.random.choice([str(job["cpus"]), *NO_COUNT]),
                  "ReqMem": self.random.choice(["4000Mn", "2Gc", "16G", "?"[:0]]),
                  "MaxRSS": self.random.choice(["", "12K", "18446744073709551614"]),
                  "TotalCPU": self.random.choice(["00:00.034", "1-02:03:04", "INVALID"])}
        return simple[column]

    def add_row(self, job, run):
        cells = [self.cell(column, job, run) for column in self.columns]
        if "JobName" in self.columns and run.get("names") is not None:
            run["names"].append(cells[self.columns.index("JobName")])
        self.rows.append(self.delimiter.join(cells))
        if self.chance(0.3):
            step = dict(zip(self.columns, cells))
            step.update(JobID=job["id"] + self.random.choice([".batch", ".extern", ".0", ".12"]),
                        User="", Partition="", JobName="bash")
            self.rows.append(self.delimiter.join(step[column] for column in self.columns))

    def make(self):
        at = datetime.datetime.fromisoformat(self.day + ":00+00:00").timestamp()
        for number in range(1000, 1000 + self.random.randrange(5, 60)):
            at += self.random.randrange(1, 400)
            forms = [str(number)] * 6 + [f"{number}_{number % 7}", f"{number}+1"]
            job = {"id": self.random.choice(forms), "user": self.random.choice(USERS),
                   "vc": self.random.choice(["gpu", "cpu"]), "name": self.random.choice(NAMES),
                   "gpus": self.random.choice([0, 1, 2, 8]), "type": self.random.choice(["a100", "h100"]),
                   "cpus": self.random.choice([1, 8, 64]), "memory_gb": self.random.choice([1, 32]),
                   "nodes": self.random.choice([1, 2]),
                   "limit": self.random.choice([None, 3600, 90000])}
            runs = self.random.choice([1] * 12 + [2, 3])
            submit, names = at, []
            first, total = None, 0
            for i in range(runs):
                start = submit + self.random.randrange(0, 3000)
                run_s = self.random.randrange(61, 9000)
                end = start + run_s
                state = self.random.choice(list(ENDS)) if i == runs - 1 else "REQUEUED"
                word = "REQUEUED" if state == "REQUEUED" else self.random.choice(ENDS[state])
                first = start if first is None else first
                total += run_s
                self.add_row(job, {"submit": submit, "start": start, "end": end, "run": run_s,
                                   "word": word, "names": names})
                submit = end + self.random.randrange(0, 60)
            plain = all(name == job["name"] for name in names)
            self.truth[job["id"]] = {**job, "submit": at, "start": first, "end": end, "run": total,
                                     "state": state, "whole": runs == 1 or plain}

    def text(self):
        header = self.delimiter.join(self.columns)
        lines = [header]
        for row in self.rows:
            if self.chance(0.02):
                lines.append(self.random.choice(["", header]))
            lines.append(row)
        if self.chance(0.2):
            lines.append(self.random.choice(lines[1:]))  # of a log that overlaps
        end = self.delimiter if self.chance(0.2) and "\n" not in "".join(self.rows) else ""
        newline = "\r\n" if self.chance(0.1) and "\n" not in "".join(self.rows) else "\n"
        return ("\ufeff" if self.chance(0.1) else "") + "".join(
            line + (end if line else "") + newline for line in lines)


def read_by_program(path, zone):
    out = path + ".csv"
    command = [PROGRAM, "trace", "convert", path, out, "--lenient"]
    if zone:
        command += ["--time-zone", zone]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr
    with open(out, newline="", encoding="utf-8") as file:
        return {row["job_id"]: row for row in csv.DictReader(file)}, done.stderr


def differences(job, other, keys):
    """What is not the same: `job` as the program wrote it, `other` with numbers."""
    found = []
    for key, column in keys.items():
        is_text = key in ("name", "user", "vc", "state", "gpu_type")
        ours = job.get(column, "")
        theirs = other[key]
        if is_text:
            same = ours == theirs
        elif theirs is None or (key == "nodes" and theirs == 0):
            same = ours == ""
        else:
            same = ours != "" and abs(float(ours) - theirs) <= 1e-5 * max(1, abs(theirs))
        if not same:
            found.append(f"{key} {ours!r} != {theirs!r}")
    return found


ALL = {"submit": "submit_s", "start": "start_s", "end": "end_s", "run": "run_s", "gpus": "gpus",
       "cpus": "cpus", "memory_gb": "memory_gb", "nodes": "nodes", "user": "user", "vc": "vc",
       "name": "name", "state": "state", "limit": "time_limit_s", "gpu_type": "gpu_type"}
WRITTEN = ["run", "user", "vc", "state", "limit", "gpus"]


def check(seed, folder):
    log = Log(seed)
    text = log.text()
    path = os.path.join(folder, f"{seed}.txt")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    ours, said = read_by_program(path, log.zone)
    if ours is None:
        return [f"the program fails: {said.strip()}"]
    theirs, unread = slow_sacct.read(text, log.zone)
    faults = [f"only the program has job {job}" for job in sorted(ours.keys() - theirs.keys())]
    faults += [f"the program lacks job {job}" for job in sorted(theirs.keys() - ours.keys())]
    for job in sorted(ours.keys() & theirs.keys()):
        faults += [f"job {job}: {each}" for each in differences(ours[job], theirs[job], ALL)]
        if job in log.truth and (log.truth[job]["whole"] and not unread):
            written = {key: ALL[key] for key in WRITTEN}
            faults += [f"job {job}, as written: {each}"
                       for each in differences(ours[job], log.truth[job], written)]
            waited = float(ours[job]["start_s"]) - float(ours[job]["submit_s"])
            wait = log.truth[job]["start"] - log.truth[job]["submit"]
            if abs(waited - wait) > 0.5 and log.zone in (None, "Asia/Kolkata"):
                faults.append(f"job {job}, as written: waited {wait}, read {waited}")
    lost = len(log.truth.keys() - ours.keys())
    if lost > unread:
        faults.append(f"{lost} jobs are lost, though only {unread} rows cannot be read")
    if unread and f"dropped {unread} of" not in said:
        faults.append(f"{unread} rows cannot be read, the program says: {said.strip()}")
    return faults


def main():
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    begin = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(begin, begin + logs):
            faults = check(seed, folder)
            failed += bool(faults)
            for fault in faults[:5]:
                print(f"seed {seed}: {fault}")
    print(f"{logs} logs, {failed} read wrongly")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
