// SPDX-License-Identifier: Apache-2.0
#include "schedule/round.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::schedule {

using policy::Event;
using policy::Phase;
using policy::Progress;

Round::Round(const cluster::Cluster& cluster, const trace::Trace& trace, policy::Policy& policy,
             Actuator& actuator, const RestartCost& cost, std::uint64_t seed)
    : cluster_(cluster),
      trace_(trace),
      policy_(policy),
      actuator_(actuator),
      cost_(cost),
      rng_(seed),
      admission_(cluster, trace.names),
      ledger_(cluster),
      progress_(trace.jobs.size()),
      plan_(ledger_),
      view_(cluster, trace.jobs, progress_, admission_.demands(), grants_, rng_) {
  grants_.reserve(trace.jobs.size());
  view_.restart = cost;
}

void Round::observe(const policy::SpeedBook* speeds, const policy::Telemetry* telemetry) {
  view_.speeds = speeds;
  view_.telemetry = telemetry;
}

std::optional<policy::Reason> Round::introduce(JobId job, const Past& past) {
  if (index(job) >= progress_.size()) progress_.resize(trace_.jobs.size());
  const trace::Request& request = trace_.jobs[index(job)].request;
  Progress& state = progress_[index(job)];
  state.vc = admission_.vc(request);
  const policy::Quotas* const quotas = plan_.quotas;
  const ClaimId claim = quotas == nullptr ? kNoClaim : quotas->of(job);
  state.demand = admission_.demand(request, state.vc, claim);
  state.since = past.since;
  state.start = past.start;
  state.attained = past.attained;
  state.charged = past.charged;
  state.preemptions = past.preemptions;
  return admission_.never(state.vc, state.demand);
}

std::optional<policy::Reason> Round::admit(JobId job) {
  return admit(job, {.since = trace_.jobs[index(job)].request.submit});
}

std::optional<policy::Reason> Round::admit(JobId job, const Past& past) {
  auto reason = introduce(job, past);
  Progress& state = progress_[index(job)];
  if (reason) {
    state.phase = Phase::never;
    return reason;
  }
  state.phase = Phase::waiting;
  ++load_.jobs_waiting;
  load_.gpus_waiting += trace_.jobs[index(job)].request.gpus;
  return std::nullopt;
}

std::optional<policy::Reason> Round::adopt(JobId job, std::span<const cluster::Grant> held,
                                           const Past& past) {
  if (auto reason = introduce(job, past)) return reason;
  Progress& state = progress_[index(job)];
  for (const cluster::Grant& grant : held) {
    ALMANAC_CHECK(cluster_.nodes[index(grant.node)].vc == state.vc,
                  "job {} of another virtual cluster on node {}", index(job), index(grant.node));
    ledger_.take(grant);
    count(grant, +1);
  }
  ledger_.commit();
  if (plan_.quotas != nullptr) plan_.quotas->take(plan_.quotas->of(job));
  remember_grants(state, held);
  state.phase = Phase::running;
  ++load_.jobs_running;
  return std::nullopt;
}

void Round::end(Time now, JobId job) {
  Progress& state = progress_[index(job)];
  ALMANAC_CHECK(state.phase == Phase::running, "job {} ends but does not run", index(job));
  state.attained += now - state.since;
  state.end = now;
  state.phase = Phase::ended;
  for (const cluster::Grant& grant : grants(job)) {
    ledger_.give_back(grant);
    count(grant, -1);
  }
  ledger_.commit();
  if (plan_.quotas != nullptr) plan_.quotas->give_back(plan_.quotas->of(job));
  --load_.jobs_running;
  if (out_.empty()) return;
  for (const cluster::Grant& grant : grants(job)) take_out(grant.node);
}

void Round::set_out(NodeId node, cluster::GpuMask gpus) {
  Out& out = out_[node];
  out.wanted = gpus;
  if (const cluster::GpuMask back = out.taken & ~gpus; back != 0) {
    const cluster::Grant again{.node = node, .gpus = back};
    ledger_.give_back(again);
    count(again, -1);
    ledger_.commit();
    out.taken &= gpus;
  }
  take_out(node);
}

void Round::take_out(NodeId node) {
  const auto found = out_.find(node);
  if (found == out_.end()) return;
  Out& out = found->second;
  const cluster::GpuMask now = out.wanted & ~out.taken & ledger_.free_mask(node);
  if (now == 0) return;
  const cluster::Grant taken{.node = node, .gpus = now};
  ledger_.take(taken);
  count(taken, +1);
  ledger_.commit();
  out.taken |= now;
}

cluster::GpuMask Round::out(NodeId node) const {
  const auto found = out_.find(node);
  return found == out_.end() ? 0 : found->second.taken;
}

void Round::begins_later(Time now, JobId job, Time at) {
  Progress& state = progress_[index(job)];
  ALMANAC_CHECK(state.phase == Phase::running && state.since == now && at > now,
                "job {} begins {} s late", index(job), seconds(at - now));
  if (state.start == now) state.start = at;
  state.since = at;
  ++held_back_.jobs;
  held_back_.waited += at - now;
}

void Round::withdraw(Time now, JobId job) {
  Progress& state = progress_[index(job)];
  ALMANAC_CHECK(state.phase == Phase::waiting, "job {} is withdrawn but does not wait", index(job));
  state.end = now;
  state.phase = Phase::withdrawn;
  --load_.jobs_waiting;
  load_.gpus_waiting -= asked_gpus(state);
  held_since_.erase(job);
}

void Round::set_nodes(VcId vc, int nodes) { ledger_.set_nodes(vc, nodes); }

void Round::booted(NodeId node) {
  ALMANAC_CHECK(ledger_.power(node) == cluster::Power::booting, "node {} does not boot",
                index(node));
  ledger_.set_power(node, cluster::Power::on);
  ledger_.commit();
}

void Round::run(Time now, std::span<const Event> events) {
  plan_.clear();
  view_.now = now;
  policy_.decide(events, view_, plan_);
  // Before the jobs that are to begin there.
  for (const NodeId node : plan_.boots) actuator_.boot(node);
  for (const JobId job : plan_.stops) check_and_stop(now, job);
  for (const policy::Plan::Start& resize : plan_.resizes) check_and_resize(resize);
  for (const policy::Plan::Start& start : plan_.starts) check_and_start(now, start);
  ALMANAC_CHECK(ledger_.busy_gpu_milli() == busy_gpu_milli_,
                "the plan takes {} GPUs/1000 and says whose {} are", ledger_.busy_gpu_milli(),
                busy_gpu_milli_);
  ALMANAC_CHECK(ledger_.busy_cpu_milli() == busy_cpu_milli_,
                "the plan takes {} cores/1000 and says whose {} are", ledger_.busy_cpu_milli(),
                busy_cpu_milli_);
  ledger_.commit();
  for (const JobId job : plan_.held_back) held_since_.try_emplace(job, now);
  for (const NodeId node : plan_.sleeps) actuator_.sleep(node);
}

void Round::check_and_stop(Time now, JobId job) {
  Progress& state = progress_[index(job)];
  ALMANAC_CHECK(state.phase == Phase::running, "job {} is stopped but does not run", index(job));
  int held = 0;
  for (const cluster::Grant& grant : grants(job)) {
    held += grant.count();
    count(grant, -1);
  }
  state.attained += now - state.since;
  state.since = now;
  state.charged += cost_.of(held);
  state.phase = Phase::waiting;
  ++state.preemptions;
  --load_.jobs_running;
  ++load_.jobs_waiting;
  load_.gpus_waiting += asked_gpus(state);
  actuator_.stop(job);
}

void Round::check_and_resize(const policy::Plan::Start& resize) {
  const Progress& state = progress_[index(resize.job)];
  ALMANAC_CHECK(state.phase == Phase::running, "job {} is resized but does not run",
                index(resize.job));
  const std::span<const cluster::Grant> held{plan_.grants.data() + resize.first_grant,
                                             resize.num_grants};
  cluster::Grant* const own = grants_.data() + state.first_grant;
  ALMANAC_CHECK(held.size() == state.num_grants, "job {} is resized to {} nodes, it runs on {}",
                index(resize.job), held.size(), state.num_grants);
  for (std::size_t at = 0; at < held.size(); ++at) {
    ALMANAC_CHECK(held[at].node == own[at].node && held[at].gpus == own[at].gpus,
                  "job {} is resized on node {} mask {:x}, it runs on node {} mask {:x}",
                  index(resize.job), index(held[at].node), held[at].gpus, index(own[at].node),
                  own[at].gpus);
    count(own[at], -1);
    own[at] = held[at];
    count(own[at], +1);
  }
  actuator_.resize(resize.job);
}

void Round::check_and_start(Time now, const policy::Plan::Start& start) {
  Progress& state = progress_[index(start.job)];
  ALMANAC_CHECK(state.phase == Phase::waiting, "job {} starts but does not wait", index(start.job));
  const std::span<const cluster::Grant> held{plan_.grants.data() + start.first_grant,
                                             start.num_grants};
  const int wanted = asked_gpus(state);
  int given = 0;
  for (const cluster::Grant& grant : held) {
    ALMANAC_CHECK(cluster_.nodes[index(grant.node)].vc == state.vc,
                  "job {} of another virtual cluster on node {}", index(start.job),
                  index(grant.node));
    given += grant.count();
    count(grant, +1);
  }
  const int most = trace_.jobs[index(start.job)].request.max_gpus;
  ALMANAC_CHECK(given == wanted || (given > 0 && given <= most),
                "job {} asks {} GPUs, at most {}, and is given {}", index(start.job), wanted,
                std::max(wanted, most), given);
  remember_grants(state, held);
  state.since = now;
  if (state.start == kNoTime) state.start = now;
  state.phase = Phase::running;
  --load_.jobs_waiting;
  ++load_.jobs_running;
  load_.gpus_waiting -= wanted;
  if (!held_since_.empty()) note_start(now, start.job);
  actuator_.start(start.job);
}

void Round::count(const cluster::Grant& grant, int sign) {
  busy_gpu_milli_ += sign * grant.count() * grant.gpu_milli;
  busy_cpu_milli_ += sign * grant.cpu_milli;
}

void Round::note_start(Time now, JobId job) {
  const auto held = held_since_.find(job);
  if (held == held_since_.end()) return;
  ++held_back_.jobs;
  held_back_.waited += now - held->second;
  held_since_.erase(held);
}

void Round::remember_grants(Progress& state, std::span<const cluster::Grant> held) {
  // A job that runs again reuses its place if it is large enough.
  if (held.size() > state.num_grants) {
    state.first_grant = static_cast<std::uint32_t>(grants_.size());
    grants_.resize(grants_.size() + held.size());
  }
  state.num_grants = static_cast<std::uint16_t>(held.size());
  std::copy(held.begin(), held.end(), grants_.begin() + state.first_grant);
}

std::span<const cluster::Grant> Round::grants(JobId job) const {
  const Progress& state = progress_[index(job)];
  return {grants_.data() + state.first_grant, state.num_grants};
}

policy::Reason Round::why_waiting(Time now, JobId job) {
  // A stream of its own: looking must not change what a random placement does next.
  Rng rng = rng_;
  policy::View view(cluster_, trace_.jobs, progress_, admission_.demands(), grants_, rng);
  view.now = now;
  view.speeds = view_.speeds;
  view.telemetry = view_.telemetry;
  view.restart = cost_;
  policy::Reason reason = policy_.why_waiting(job, view, ledger_);
  ledger_.commit();
  return reason;
}

}  // namespace almanac::schedule
