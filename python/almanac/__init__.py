# SPDX-License-Identifier: Apache-2.0
"""Almanac from Python: job logs as tables, simulations of schedulers, schedulers written in Python.

    import almanac
    run = almanac.simulate("log.csv", ["easy", "qssf"], cluster="20x8")
    run.summary            # one row per policy
    run.jobs["qssf"]       # one row per job

Tables are pandas.DataFrames if pandas is installed, otherwise dicts of columns. Columns have the names of the program's CSV and
JSON. See docs/guide/python.md.
"""
from almanac.frames import to_parquet, with_dates
from almanac.policy import Cluster, Event, Job, Node, Plan, Policy, View
from almanac.program import Error
from almanac.simulation import Run, read_trace, simulate

__all__ = ["Cluster", "Error", "Event", "Job", "Node", "Plan", "Policy", "Run", "View", "read_trace", "simulate",
           "to_parquet", "with_dates"]
