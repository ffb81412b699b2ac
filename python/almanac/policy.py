# SPDX-License-Identifier: Apache-2.0
"""The contract between a policy and its host, as `src/policy/contract/contract.h` has it: events in, a plan out.

Times are seconds as floats and whole milliseconds, so equal times are equal numbers. Jobs and nodes have numbers, jobs in order
of arrival. Breaking a rule of the contract ends the simulation with almanac.Error, which names the rule.
"""
import json
from typing import Dict, List, NamedTuple, Optional


class Policy:
    """Base class of a policy, which decides which jobs run where. Implement decide() and set:

    name         name in tables; by default the name of the class
    estimate     source of predicted run times, Job.believed_s: "oracle" (the truth), "rolling", "learned" ... as listed by
                 `almanac policy list`; None = no predictions
    placement    how plan.start() chooses GPUs, as listed by `almanac policy list`
    stops_jobs   whether the policy may stop or move running jobs; shown in tables and reports
    """

    name: Optional[str] = None
    estimate: Optional[str] = None
    placement: str = "consolidate"
    stops_jobs: bool = False

    def decide(self, events, view, plan):
        """Handles all events of one instant. The same calls must give the same plans."""
        raise NotImplementedError("a policy must implement decide(self, events, view, plan)")


class Event(NamedTuple):
    """kind: job_arrived, job_ended, job_failed, job_withdrawn, job_adopted, job_released, job_reported, node_down, node_up,
    node_notice, capacity_changed, signal_changed or timer; subject: number of a job, node or virtual cluster."""

    kind: str
    subject: int
    value: float


class Node(NamedTuple):
    """A node; cpus and memory_gb are 0 if unknown. Nodes of one NVLink domain have the same nvlink_domain."""

    node: int
    name: str
    vc: int
    gpus: int
    gpu_type: str
    cpus: float
    memory_gb: float
    nvlink_domain: int


class Cluster(NamedTuple):
    nodes: List[Node]
    vcs: List[str]


class Job:
    """Request of a job, as known at submission, and its state. Missing values are None.

    number, job_id, name, user, vc (number of its virtual cluster), kind, model, qos, priority_tier (0 by default; jobs of a
    higher one should go first), requeue (whether it may be stopped; None = not said), gpu_type, gpus, max_gpus, nvlink_gpus (GPUs that must share an
    NVLink domain), gpu_share, nodes, cpus, memory_gb, value, submit_s, time_limit_s, deadline_s, believed_s (its whole run), is_running, held_until_s
    """

    def __init__(self, told, view):
        self.number = told.pop("job")
        for name, value in told.items():
            if name.endswith("_ms"):
                setattr(self, name[:-3] + "_s", None if value is None else value / 1e3)
            else:
                setattr(self, name, value)
        self.is_running = False
        self.held_until_s = None
        self._view = view

    def __repr__(self):
        return f"<job {self.job_id}: {self.gpus} GPUs, {'runs' if self.is_running else 'waits'}>"

    @property
    def attained_s(self):
        """Run time so far."""
        return self._view.standing(self)[4] / 1e3

    @property
    def worked_s(self):
        """Work done so far, as time at the reference speed of run times."""
        return self._view.standing(self)[5] / 1e3

    @property
    def charged_s(self):
        """Work added by restarts so far."""
        return self._view.standing(self)[6] / 1e3

    @property
    def preemptions(self):
        return self._view.standing(self)[7]

    @property
    def start_s(self):
        """First start; None = not started yet."""
        first = self._view.standing(self)[3]
        return None if first is None else first / 1e3

    @property
    def grants(self):
        """Allocated GPUs, {node: GPUs}."""
        return dict(self._view.standing(self)[8])

    @property
    def left_s(self):
        """Predicted remaining work, including restarts; never negative."""
        return max(0.0, self.believed_s + self.charged_s - self.worked_s)


class View:
    """State at `now`, before this decision. Contains no outcome of a job that has not ended."""

    def __init__(self, cluster, ask):
        self.now = 0.0
        self.cluster = cluster
        self.jobs: Dict[int, Job] = {}  # waiting and running, by number, in order of arrival
        self._ask = ask
        self._standing = None

    def waiting(self, vc=None):
        """Returns the waiting jobs that may start, of all virtual clusters or one, in order of arrival."""
        return [job for job in self.jobs.values()
                if not job.is_running and (vc is None or job.vc == vc)
                and (job.held_until_s is None or job.held_until_s <= self.now)]

    def running(self, vc=None):
        return [job for job in self.jobs.values() if job.is_running and (vc is None or job.vc == vc)]

    def queues(self):
        """Returns the waiting jobs of each virtual cluster."""
        lines = [[] for _ in self.cluster.vcs]
        for job in self.waiting():
            lines[job.vc].append(job)
        return lines

    def standing(self, job):
        if self._standing is None:
            self._standing = {each[0]: each for each in self._ask(["look"])}
        return self._standing[job.number]

    def take(self, now_ms, told_events, told_jobs):
        """Updates the view with new events and returns them."""
        self.now = now_ms / 1e3
        self._standing = None
        asked = {told["job"]: told for told in told_jobs}
        events = [Event(*each) for each in told_events]
        for kind, subject, _ in events:
            if kind in ("job_arrived", "job_adopted"):
                self.jobs[subject] = Job(asked[subject], self)
                self.jobs[subject].is_running = kind == "job_adopted"
            elif kind in ("job_ended", "job_withdrawn"):
                self.jobs.pop(subject, None)
            elif kind == "job_failed":
                self.jobs[subject].is_running = False
        return events

    def forget_standing(self):
        self._standing = None


class Plan:
    """Changes that a decision makes; everything else stays as it is. A decision names each job at most once."""

    def __init__(self, view, ask):
        self._view = view
        self._ask = ask
        self._after = []  # updates of jobs after the decision

    def start(self, job, gpus=None, nodes=None):
        """Starts a waiting job on GPUs that the placement chooses. Returns False, with no change, if it does not fit.

        gpus: another number than requested, up to Job.max_gpus. nodes: {node: GPUs}, instead of the placement.
        """
        return self._place("start", job, gpus, nodes)

    def fits(self, job, gpus=None, nodes=None):
        """Returns whether start() would succeed after the changes so far."""
        return self._ask(_command("fits", job, gpus, nodes))

    def move(self, job, gpus=None, nodes=None):
        """Moves a running job, which costs a restart. Returns False, with no change, if it does not fit."""
        return self._place("move", job, gpus, nodes)

    def stop(self, job):
        """Preempts a running job, which keeps its progress and waits."""
        self._ask(["stop", job.number])
        self._after.append(lambda: setattr(job, "is_running", False))

    def hold(self, job, until_s):
        """Holds a waiting job until a time, when the event job_released follows."""
        self._ask(["hold", job.number, _ms(until_s)])
        self._after.append(lambda: setattr(job, "held_until_s", until_s))

    def decline(self, job):
        """Rejects a waiting job permanently."""
        self._ask(["decline", job.number])
        self._after.append(lambda: self._view.jobs.pop(job.number, None))

    def end(self, job):
        """Ends a waiting or running job permanently."""
        self._ask(["end", job.number])
        self._after.append(lambda: self._view.jobs.pop(job.number, None))

    def sleep(self, node):
        """Powers down an idle node, by number."""
        self._ask(["sleep", node])

    def boot(self, node):
        """Boots a sleeping node; the event capacity_changed follows once it is up."""
        self._ask(["boot", node])

    def wake(self, at_s):
        """Requests the event timer at a time; now = one more decision at this instant."""
        self._ask(["wake", _ms(at_s)])

    def free(self):
        """Returns the free GPUs of each node, by number, after the changes so far."""
        return self._ask(["free"])

    def _place(self, verb, job, gpus, nodes):
        if not self._ask(_command(verb, job, gpus, nodes)):
            return False
        self._after.append(lambda: setattr(job, "is_running", True))
        return True

    def carry_out(self):
        for each in self._after:
            each()


def _command(verb, job, gpus, nodes):
    return [verb, job.number, gpus, None if nodes is None else [[node, count] for node, count in nodes.items()]]


def _ms(seconds):
    return round(seconds * 1e3)


def play(policy, child):
    """Makes the decisions for the program `child` until its simulation ends."""
    child.say(json.dumps({"almanac_policy": 1, "name": policy.name or type(policy).__name__, "estimate": policy.estimate,
                          "placement": policy.placement, "stops_jobs": policy.stops_jobs}))

    def ask(command):
        child.say(json.dumps(command))
        return json.loads(child.hear())

    view = None
    while True:
        told = json.loads(child.hear())
        if "over" in told:
            return
        if "cluster" in told:
            machines = told["cluster"]
            view = View(Cluster([Node(**each) for each in machines["nodes"]], machines["vcs"]), ask)
            continue
        events = view.take(told["now"], told["events"], told["jobs"])
        plan = Plan(view, ask)
        policy.decide(events, view, plan)
        plan.carry_out()
        child.say('["done"]')
