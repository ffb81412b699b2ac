# SPDX-License-Identifier: Apache-2.0
"""Almanac from Python: job logs as tables, simulations of schedulers, schedulers written in Python.

    import almanac
    run = almanac.simulate("log.csv", ["easy", "qssf"], cluster="20x8")
    run.summary            # a row a policy
    run.jobs["qssf"]       # a row a job

Tables are pandas.DataFrames where pandas is installed, else dicts of columns; columns are named as in the CSV and JSON of the
program. docs/guide/python.md says more.
"""
from almanac.frames import to_parquet, with_dates
from almanac.policy import Cluster, Event, Job, Node, Plan, Policy, View
from almanac.program import Error
from almanac.simulation import Run, read_trace, simulate

__all__ = ["Cluster", "Error", "Event", "Job", "Node", "Plan", "Policy", "Run", "View", "read_trace", "simulate",
           "to_parquet", "with_dates"]
