#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as a user meets it, and its policies beside those of the program."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Debian's python3-pandas is of Debian's Python, which need not be the first one on PATH.
DEBIANS = "/usr/bin/python3"
if (importlib.util.find_spec("pandas") is None and not os.path.samefile(sys.executable, DEBIANS)
        and subprocess.run([DEBIANS, "-c", "import pandas"], capture_output=True).returncode == 0):
    os.execv(DEBIANS, [DEBIANS, *sys.argv])
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]

import almanac  # noqa: E402
from almanac import frames  # noqa: E402
from days import write_day  # noqa: E402


class Fifo(almanac.Policy):
    def decide(self, events, view, plan):
        for line in view.queues():
            for job in line:
                if not plan.start(job):
                    break


class Sjf(almanac.Policy):
    estimate = "oracle"

    def decide(self, events, view, plan):
        for line in view.queues():
            for job in sorted(line, key=lambda each: each.believed_s):
                if not plan.start(job):
                    break


def signatures(run):
    return {each["policy"]: each["signature"] for each in json.loads((run.folder / "summary.json").read_text())}


def rows(table):
    """The rows of a table of either kind."""
    columns = {name: list(table[name]) for name in table}
    return [dict(zip(columns, cells)) for cells in zip(*columns.values())]


class Case(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def refused(self, work):
        with self.assertRaises(almanac.Error) as caught:
            work()
        self.assertNotIn("\n", str(caught.exception))
        return caught.exception


class Exact(Case):
    def test_python_decides_as_the_program_does(self):
        differ = set()
        for seed in range(12):
            for more in {}, {"cores": True}, {"cores": True, "parts": True}:
                log, cluster = write_day(self.folder, seed, **more)
                for name, policy in ("fifo", Fifo()), ("sjf", Sjf()):
                    run = almanac.simulate(log, [name, policy], cluster=cluster)
                    signed = signatures(run)
                    self.assertEqual(signed[name], signed[type(policy).__name__], (seed, more, name))
                    differ.add(signed[name])
        self.assertGreater(len(differ), 36)

    def test_a_longer_day_of_nodes_that_are_alike(self):
        log, _ = write_day(self.folder, 99, jobs=2000)
        signed = signatures(almanac.simulate(log, ["sjf", Sjf()], cluster="4x8"))
        self.assertEqual(signed["sjf"], signed["Sjf"])


LOG = "job_id,user,submit_s,run_s,gpus\n1,ann,0,100,8\n2,bob,10,50,8\n3,ann,20,10,1\n"


class Tables(Case):
    def test_a_log_has_the_columns_of_the_csv(self):
        log = self.write("log.csv", LOG)
        table = almanac.read_trace(log)
        self.assertEqual([row["job_id"] for row in rows(table)], ["1", "2", "3"])
        self.assertEqual([row["gpus"] for row in rows(table)], [8, 8, 1])
        self.assertEqual([row["user"] for row in rows(table)], ["ann", "bob", "ann"])

    def test_a_run_has_the_columns_of_its_files(self):
        log = self.write("log.csv", LOG)
        run = almanac.simulate(log, ["fifo", "sjf"], cluster="1x8", out=self.folder / "run")
        self.assertEqual(list(run.jobs["fifo"]), (self.folder / "run/fifo/jobs.csv").read_text().split("\n")[0].split(","))
        self.assertEqual([row["wait_s"] for row in rows(run.jobs["fifo"])], [0, 90, 130])
        self.assertEqual([row["policy"] for row in rows(run.summary)], ["fifo", "sjf"])
        self.assertEqual([row["avg_wait_s"] for row in rows(run.summary)], [220 / 3, 180 / 3])
        self.assertEqual([row["gpus_busy"] for row in rows(run.timeline["fifo"])], [8, 8, 8])
        self.assertTrue((self.folder / "run/run.json").exists())

    def test_without_pandas_a_table_is_a_dict_of_columns(self):
        with mock.patch.object(frames, "pandas", None):
            table = frames.read_csv('a,user,b\n1,"x, y",0.5\n,7,\n')
            self.assertEqual(table, {"a": [1, None], "user": ["x, y", "7"], "b": [0.5, None]})
            self.refused(lambda: almanac.to_parquet(table, self.folder / "x.parquet"))

    @unittest.skipIf(frames.pandas is None, "SKIPPED: pandas is not installed")
    def test_with_pandas_a_table_is_a_frame_and_its_moments_can_be_dates(self):
        table = frames.read_csv("job_id,submit_s,user\n007,1590624000,\n8,1590624000.5,x\n")
        self.assertEqual(list(table["job_id"]), ["007", "8"])
        dated = frames.with_dates(table)
        self.assertEqual(str(dated["submit_s"][0]), "2020-05-28 00:00:00+00:00")
        self.assertEqual(table["submit_s"][1], 1590624000.5)


    @unittest.skipIf(frames.pandas is None, "SKIPPED: pandas is not installed")
    def test_with_pandas_a_log_and_a_run_are_frames(self):
        log = self.write("log.csv", LOG)
        table = almanac.read_trace(log)
        self.assertIsInstance(table, frames.pandas.DataFrame)
        self.assertEqual(table.groupby("user")["gpus"].sum().to_dict(), {"ann": 9, "bob": 8})
        run = almanac.simulate(log, ["fifo"], cluster="1x8")
        self.assertEqual(run.jobs["fifo"]["wait_s"].mean(), 220 / 3)
        self.assertEqual(run.jobs["fifo"]["wait_s"].dtype, "int64")

    @unittest.skipIf(frames.pandas is None or importlib.util.find_spec("pyarrow"), "SKIPPED: pyarrow is installed")
    def test_parquet_without_pyarrow_names_what_to_install(self):
        refusal = self.refused(lambda: almanac.to_parquet(almanac.read_trace(self.write("log.csv", LOG)), self.folder / "x.parquet"))
        self.assertIn("pip install pyarrow", str(refusal))
        self.assertFalse((self.folder / "x.parquet").exists())

    @unittest.skipUnless(frames.pandas is not None and importlib.util.find_spec("pyarrow"), "SKIPPED: pyarrow is not installed")
    def test_parquet_gives_back_what_was_written(self):
        table = frames.read_csv("job_id,submit_s,user,gpus\n007,1590624000,,1\n8,1590624000.5,x,2\n")
        path = self.folder / "jobs.parquet"
        almanac.to_parquet(table, path)
        frames.pandas.testing.assert_frame_equal(frames.pandas.read_parquet(path), table)
        almanac.to_parquet(table, path, dates=True)
        dated = frames.pandas.read_parquet(path)
        self.assertEqual(str(dated["submit_s"][0]), "2020-05-28 00:00:00+00:00")
        self.assertEqual(list(dated["job_id"]), ["007", "8"])


class Stop(almanac.Policy):
    """Lets the last come run first."""

    stops_jobs = True

    def decide(self, events, view, plan):
        if any(event.kind == "job_arrived" for event in events):
            for job in view.running():
                plan.stop(job)
        for job in reversed(view.waiting()):
            plan.start(job)


class Contract(Case):
    def play(self, decide, log=LOG, cluster="1x8", **about):
        policy = type("Mine", (almanac.Policy,), {"decide": decide, **about})()
        return almanac.simulate(self.write("log.csv", log), [policy], cluster=cluster)

    def test_it_may_stop_jobs(self):
        run = almanac.simulate(self.write("log.csv", LOG), [Stop()], cluster="1x8", restart=0)
        self.assertEqual([row["preemptions"] for row in rows(run.jobs["Stop"])], [1, 1, 0])
        self.assertEqual([row["end_s"] for row in rows(run.jobs["Stop"])], [160, 70, 30])

    def test_it_is_told_what_there_is_and_where_jobs_stand(self):
        seen = []

        def decide(self, events, view, plan):
            for job in view.waiting():
                plan.start(job)
            seen.append((view.now, [(event.kind, event.subject) for event in events],
                         [(job.job_id, job.attained_s, job.grants) for job in view.running()], plan.free()))

        self.play(decide)
        self.assertEqual(seen[0], (0, [("job_arrived", 0)], [], [0]))
        self.assertEqual(seen[1], (10, [("job_arrived", 1)], [("1", 10, {0: 8})], [0]))
        self.assertEqual(seen[3][:2], (100, [("job_ended", 0)]))

    def test_it_may_hold_decline_and_name_nodes(self):
        def decide(self, events, view, plan):
            for job in view.waiting():
                if job.job_id == "1" and view.now < 5:
                    plan.hold(job, 5)
                elif job.job_id == "2":
                    plan.decline(job)
                else:
                    plan.start(job, nodes={1: job.gpus})

        table = rows(self.play(decide, cluster="2x8").jobs["Mine"])
        self.assertEqual([(row["job_id"], row["start_s"], row["nodes"]) for row in table if row["job_id"] != "2"],
                         [("1", 5, "1:8"), ("3", 105, "1:1")])

    def test_what_is_against_the_contract_is_one_line(self):
        def twice(self, events, view, plan):
            for job in view.waiting():
                plan.start(job)
                plan.start(job)

        def running(self, events, view, plan):
            for job in view.jobs.values():
                plan.start(job)

        def early(self, events, view, plan):
            plan.wake(-1)

        def always(self, events, view, plan):
            plan.wake(view.now)

        def foreign(self, events, view, plan):
            for job in view.waiting():
                plan.start(job, nodes={7: job.gpus})

        for decide, words in ((twice, "named twice"), (running, "is not waiting"), (early, "the time has passed"),
                              (always, "9000 times"), (foreign, "each node must be named once")):
            refusal = self.refused(lambda: self.play(decide))
            self.assertIn(words, str(refusal))
            self.assertEqual(refusal.status, 65)

    def test_an_exception_of_a_policy_is_the_callers(self):
        def decide(self, events, view, plan):
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            self.play(decide)

    def test_tables_say_what_it_needs_and_does(self):
        run = almanac.simulate(self.write("log.csv", LOG), [Sjf()], cluster="1x8")
        told = json.loads((run.folder / "summary.json").read_text())[0]
        self.assertEqual((told["policy"], told["bound"]), ("Sjf", True))
        run = almanac.simulate(self.write("log.csv", LOG), [Fifo()], cluster="1x8")
        self.assertFalse(json.loads((run.folder / "summary.json").read_text())[0]["bound"])


class Refusals(Case):
    def test_errors_of_the_program_are_its_one_line(self):
        log = self.write("log.csv", LOG)
        for work, status, words in (
                (lambda: almanac.read_trace(self.folder / "none.csv"), 66, "none.csv"),
                (lambda: almanac.simulate(log, ["fifoo"], cluster="1x8"), 2, "no policy is named fifoo"),
                (lambda: almanac.simulate(log, ["fifo"], cluster="1y8"), None, "1y8"),
                (lambda: almanac.simulate(log, [type("M", (Fifo,), {"estimate": "tarot"})()], cluster="1x8"), 2, "tarot"),
                (lambda: almanac.simulate(log, [type("M", (Fifo,), {"name": "a/b"})()], cluster="1x8"), 65, "a/b"),
                (lambda: almanac.simulate(log, [Fifo(), Sjf()], cluster="1x8"), None, "only one Python policy")):
            refusal = self.refused(work)
            self.assertIn(words, str(refusal))
            self.assertFalse(str(refusal).startswith("almanac:"))
            if status is not None:
                self.assertEqual(refusal.status, status, refusal)

    def test_a_program_that_is_not_there(self):
        with mock.patch.dict(os.environ, {"ALMANAC_PROGRAM": "/nowhere/almanac"}):
            self.assertIn("ALMANAC_PROGRAM", str(self.refused(lambda: almanac.read_trace("log.csv"))))

    def test_nobody_decides_at_a_terminal_or_an_end_of_file(self):
        log = self.write("log.csv", LOG)
        done = subprocess.run([os.environ["ALMANAC_PROGRAM"], "simulate", log, "--policy", "-"], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 69)
        self.assertEqual(done.stderr, "almanac: policy -: the program that decides ended before the simulation\n")
        done = subprocess.run([os.environ["ALMANAC_PROGRAM"], "sweep", log, "--policy", "-"], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("only almanac simulate can run one", done.stderr)


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    for case, why in done.skipped:
        print(f"{case.id()}: {why}")
    sys.exit(not done.wasSuccessful())
