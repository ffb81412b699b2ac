# SPDX-License-Identifier: Apache-2.0
"""The contract between a policy and its host, as `src/policy/contract/contract.h` has it: events in, a plan out.

Times are seconds as floats, whole milliseconds all: equal moments are equal numbers. Jobs and nodes are known by number, jobs
in order of arrival. A rule of the contract that is broken ends the simulation with almanac.Error, which names it.
"""
import json
from typing import Dict, List, NamedTuple, Optional


class Policy:
    """Decides which jobs run where. Write decide(), and say what it needs:

    name         what tables call it; the name of the class if not given
    estimate     what is believed of run times, Job.believed_s: "oracle" (the truth), "rolling", "learned" ... as
                 `almanac policy list` has them; None = nothing
    placement    which GPUs plan.start() chooses, likewise
    stops_jobs   whether it may stop or move running jobs; tables and reports say so
    """

    name: Optional[str] = None
    estimate: Optional[str] = None
    placement: str = "consolidate"
    stops_jobs: bool = False

    def decide(self, events, view, plan):
        """Answers all events of one instant at once. Same calls, same plans."""
        raise NotImplementedError("a policy must have decide(self, events, view, plan)")


class Event(NamedTuple):
    """kind: job_arrived, job_ended, job_failed, job_withdrawn, job_adopted, job_released, job_reported, node_down, node_up,
    node_notice, capacity_changed, signal_changed or timer; subject: the number of a job, node or virtual cluster."""

    kind: str
    subject: int
    value: float


class Node(NamedTuple):
    """A machine; cpus and memory_gb are 0 where that is not known."""

    node: int
    name: str
    vc: int
    gpus: int
    gpu_type: str
    cpus: float
    memory_gb: float


class Cluster(NamedTuple):
    nodes: List[Node]
    vcs: List[str]


class Job:
    """What a job asks, as known when it is submitted, and where it stands. Missing is None.

    number, job_id, name, user, vc (number of its virtual cluster), kind, model, qos, gpu_type, gpus, max_gpus, gpu_share, nodes,
    cpus, memory_gb, value, submit_s, time_limit_s, deadline_s, believed_s (its whole run), is_running, held_until_s
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
        """Time that it has run so far."""
        return self._view.standing(self)[4] / 1e3

    @property
    def worked_s(self):
        """Work that it has done so far, as time at the speed at which run times are given."""
        return self._view.standing(self)[5] / 1e3

    @property
    def charged_s(self):
        """Work that restarts have added so far."""
        return self._view.standing(self)[6] / 1e3

    @property
    def preemptions(self):
        return self._view.standing(self)[7]

    @property
    def start_s(self):
        """Its first start; None = it has not started."""
        first = self._view.standing(self)[3]
        return None if first is None else first / 1e3

    @property
    def grants(self):
        """What it holds, {node: GPUs}."""
        return dict(self._view.standing(self)[8])

    @property
    def left_s(self):
        """Work that it is believed to have left, restarts included, never negative."""
        return max(0.0, self.believed_s + self.charged_s - self.worked_s)


class View:
    """What is known at `now`, as it was before this decision: no outcome of a job that has not ended."""

    def __init__(self, cluster, ask):
        self.now = 0.0
        self.cluster = cluster
        self.jobs: Dict[int, Job] = {}  # that wait or run, by number, in order of arrival
        self._ask = ask
        self._standing = None

    def waiting(self, vc=None):
        """Jobs that wait and may start, of all virtual clusters or one, in order of arrival."""
        return [job for job in self.jobs.values()
                if not job.is_running and (vc is None or job.vc == vc)
                and (job.held_until_s is None or job.held_until_s <= self.now)]

    def running(self, vc=None):
        return [job for job in self.jobs.values() if job.is_running and (vc is None or job.vc == vc)]

    def queues(self):
        """The jobs that wait of each virtual cluster."""
        lines = [[] for _ in self.cluster.vcs]
        for job in self.waiting():
            lines[job.vc].append(job)
        return lines

    def standing(self, job):
        if self._standing is None:
            self._standing = {each[0]: each for each in self._ask(["look"])}
        return self._standing[job.number]

    def take(self, now_ms, told_events, told_jobs):
        """Takes in what has happened; gives the events."""
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
    """What shall change; whatever is not mentioned stays as it is. A job is named once in a decision."""

    def __init__(self, view, ask):
        self._view = view
        self._ask = ask
        self._after = []  # what becomes of jobs once the decision is made

    def start(self, job, gpus=None, nodes=None):
        """Lets a waiting job run, on the GPUs that the placement chooses; False = there is no room, nothing has changed.

        gpus: another number than it asks, up to Job.max_gpus. nodes: {node: GPUs}, instead of the placement.
        """
        return self._place("start", job, gpus, nodes)

    def fits(self, job, gpus=None, nodes=None):
        """Whether start() would find room, as the plan so far leaves the cluster."""
        return self._ask(_command("fits", job, gpus, nodes))

    def move(self, job, gpus=None, nodes=None):
        """Lets a running job go on elsewhere, which costs a restart; False = there is no room, nothing has changed."""
        return self._place("move", job, gpus, nodes)

    def stop(self, job):
        """A running job gives its GPUs back and waits; what it has done stays done."""
        self._ask(["stop", job.number])
        self._after.append(lambda: setattr(job, "is_running", False))

    def hold(self, job, until_s):
        """Keeps a waiting job from starting before a time; then the event job_released is told."""
        self._ask(["hold", job.number, _ms(until_s)])
        self._after.append(lambda: setattr(job, "held_until_s", until_s))

    def decline(self, job):
        """Turns a waiting job away for good."""
        self._ask(["decline", job.number])
        self._after.append(lambda: self._view.jobs.pop(job.number, None))

    def end(self, job):
        """Ends a job for good that waits or runs."""
        self._ask(["end", job.number])
        self._after.append(lambda: self._view.jobs.pop(job.number, None))

    def sleep(self, node):
        """Sends an idle node to sleep, by number."""
        self._ask(["sleep", node])

    def boot(self, node):
        """Boots a node that sleeps; once it is there, the event capacity_changed is told."""
        self._ask(["boot", node])

    def wake(self, at_s):
        """Asks for the event timer at a time; now = one more decision at this instant."""
        self._ask(["wake", _ms(at_s)])

    def free(self):
        """GPUs that are free of each node, by number, as the plan so far leaves them."""
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
    """Decides for the program `child` until its simulation is over."""
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
