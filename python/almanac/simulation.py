# SPDX-License-Identifier: Apache-2.0
"""Job logs as tables, and simulations of policies on them."""
import pathlib
import shutil
import tempfile
import weakref

from almanac import frames
from almanac.policy import Policy, play
from almanac.program import Child, Error


def _reading(format, columns, lenient):
    arguments = []
    if format is not None:
        arguments += ["--format", format]
    if columns is not None:
        arguments += ["--columns", columns]
    if lenient:
        arguments += ["--lenient"]
    return arguments


def read_trace(path, format=None, columns=None, lenient=False):
    """Reads a job log of any supported format as a table with the columns of Almanac's own CSV, one row per job.

    format, columns, lenient: as in `almanac trace convert`.
    """
    with Child(["trace", "convert", path, *_reading(format, columns, lenient)]) as child:
        return frames.read_csv(child.finish())


class Run:
    """Result of a simulation.

    summary    one row per policy, as printed by `almanac compare -o csv`
    jobs       {policy: table}, one row per job, as in jobs.csv
    timeline   {policy: table}, as in timeline.csv
    notes      notes printed by the program, one sentence each
    folder     the run directory, with report.html; deleted with this object unless simulate() was called with `out`
    """

    def __init__(self, folder, summary, notes):
        self.folder = pathlib.Path(folder)
        self.summary = summary
        self.notes = notes
        self.jobs = self._tables("jobs.csv")
        self.timeline = self._tables("timeline.csv")

    def _tables(self, name):
        return {path.parent.name: frames.read_csv(path.read_text(encoding="utf-8"))
                for path in sorted(self.folder.glob(f"*/{name}"))}


def simulate(log, policies=("quick",), cluster=None, *, out=None, seed=0, load=1, profile=None, power=None, speed=None,
             believed_speed=None, model=None, restart=None, warm_up=None, timeline=None, threads=None, format=None,
             columns=None, lenient=False):
    """Simulates a job log under policies. Returns a Run, or raises almanac.Error with the program's message.

    policies: names as on the command line ("easy", "easy+gpu_time", "mine.toml"), and at most one almanac.Policy.
    cluster: a file, or "20x8"; None = inferred from the log. For the rest see `almanac simulate --help`.
    """
    if isinstance(policies, (str, Policy)):
        policies = [policies]
    own = [each for each in policies if isinstance(each, Policy)]
    if len(own) > 1:
        raise Error("a simulation can run only one Python policy, with any number of named ones: simulate the others separately")
    names = ["-" if isinstance(each, Policy) else each for each in policies]
    folder = out if out is not None else tempfile.mkdtemp(prefix="almanac-")
    arguments = ["simulate", log, "--policy", ",".join(names), "--out", folder, "-o", "csv",
                 *_reading(format, columns, lenient)]
    for option, value in (("--cluster", cluster), ("--seed", seed), ("--load", load), ("--profile", profile),
                          ("--power", power), ("--speed", speed), ("--believed-speed", believed_speed),
                          ("--model", model), ("--restart", restart), ("--warm-up", warm_up), ("--timeline", timeline),
                          ("--threads", threads)):
        if value is not None:
            arguments += [option, value]
    try:
        with Child(arguments) as child:
            if own:
                play(own[0], child)
            run = Run(folder, frames.read_csv(child.finish()), child.notes)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run
