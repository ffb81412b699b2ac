// SPDX-License-Identifier: Apache-2.0
#include "schedule/round.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "schedule/shortage.h"
#include "trace/sizes.h"

namespace almanac::schedule {

using policy::Event;
using policy::EventKind;
using policy::Phase;
using policy::Progress;

void Actuator::end(JobId job, bool) {
  ALMANAC_CHECK(false, "a policy ends job {} where the host lets none", index(job));
}

void Actuator::decline(JobId job) {
  ALMANAC_CHECK(false, "a policy declines job {} where the host lets none", index(job));
}

void Actuator::scale(policy::ServiceId service, int) {
  ALMANAC_CHECK(false, "a policy scales service {} where the host runs none", index(service));
}

Round::Round(const cluster::Cluster& cluster, const trace::Trace& trace, policy::Policy& policy,
             Actuator& actuator, const RestartCost& cost, std::uint64_t seed, std::string name)
    : cluster_(cluster),
      trace_(trace),
      policy_(policy),
      actuator_(actuator),
      cost_(cost),
      name_(std::move(name)),
      rng_(seed),
      admission_(cluster, trace.names),
      limits_(cluster),
      ledger_(cluster),
      progress_(trace.jobs.size()),
      view_(cluster, rng_, records()),
      plan_(ledger_, view_) {
  grants_.reserve(trace.jobs.size());
  view_.restart = cost;
  has_boards_ = std::any_of(cluster.classes.begin(), cluster.classes.end(),
                            [](const auto& make) { return make.board != nullptr; });
  if (!limits_.empty()) keep(own_quotas_);
}

void Round::keep(policy::Quotas& quotas) {
  plan_.quotas = &quotas;
  limits_.add_to(quotas);
}

policy::View::Records Round::records() const {
  return {.jobs = trace_.jobs,
          .progress = progress_,
          .demands = admission_.demands(),
          .grants = grants_,
          .configs = &configs_,
          .holds = &holds_,
          .acceptable = &acceptable_,
          .groups = &groups_,
          .tiers = &tiers_};
}

void Round::observe(const policy::Speeds* speeds, const policy::Telemetry* telemetry) {
  view_.speeds = speeds;
  view_.telemetry = telemetry;
}

std::optional<policy::Reason> Round::introduce(JobId job, const Past& past) {
  if (index(job) >= progress_.size()) progress_.resize(trace_.jobs.size());
  const trace::Request& request = trace_.jobs[index(job)].request;
  Progress& state = progress_[index(job)];
  state.vc = admission_.vc(request);
  state.tenant = past.tenant != kNoTenant ? past.tenant : admission_.tenant(request);
  if (const std::int32_t tier = admission_.tier(request, state.tenant, state.vc); tier != 0) {
    if (index(job) >= tiers_.size()) tiers_.resize(index(job) + 1, 0);
    tiers_[index(job)] = tier;
  }
  policy::Quotas* const quotas = plan_.quotas;
  if (!limits_.empty()) {
    limits_.put(job, request.gpus, admission_.part(request, state.vc), state.tenant, *quotas);
  }
  const ClaimId claim = quotas == nullptr ? kNoClaim : quotas->of(job);
  state.demand = admission_.demand(request, state.vc, claim);
  if (request.alternatives != kNoName) {
    auto acceptable = admission_.acceptable(request, state.vc, claim, quotas);
    std::erase_if(acceptable, [&](const policy::Acceptable& each) {
      const cluster::Demand& demand = admission_.demands()[index(each.demand)];
      return limits_.never(demand.gpus, demand.gpu_milli, state.tenant).has_value();
    });
    if (!acceptable.empty()) {
      state.demand = acceptable.front().demand;
      acceptable_[job] = std::move(acceptable);
    }
  }
  if (request.group != kNoName) {
    std::vector<JobId>& group = groups_[request.group];
    // A job may come back after it was withdrawn.
    if (state.phase != Phase::withdrawn) group.push_back(job);
  }
  state.end = kNoTime;
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
  if (!reason && !limits_.empty()) reason = over_limit(job);
  if (reason) {
    state.phase = Phase::never;
    return reason;
  }
  state.phase = Phase::waiting;
  ++load_.jobs_waiting;
  load_.gpus_waiting += asked_gpus(state);
  return std::nullopt;
}

std::optional<policy::Reason> Round::over_limit(JobId job) const {
  const Progress& state = progress_[index(job)];
  const cluster::Demand& demand = admission_.demands()[index(state.demand)];
  const trace::Request& request = trace_.jobs[index(job)].request;
  const int least = request.max_gpus > 0 ? trace::sizes_of(request).least : demand.gpus;
  const bool asks_instances = request.gpu_profile != kNoName;
  const policy::Quotas& quotas = *plan_.quotas;
  return limits_.never(std::min(least, demand.gpus),
                       asks_instances ? quotas[quotas.of(job)].gpu_milli : demand.gpu_milli,
                       state.tenant);
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
  if (policy::Quotas* const quotas = plan_.quotas) {
    int gpus = 0;
    for (const cluster::Grant& grant : held) gpus += grant.count();
    const bool may_differ =
        trace_.jobs[index(job)].request.max_gpus > 0 || acceptable_.contains(job);
    if (may_differ) quotas->ask(job, gpus);
    quotas->adopt(quotas->of(job));
  }
  remember_grants(job, held);
  if (has_boards_) note_on_boards(job);
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
  if (has_boards_) on_boards_.erase(job);
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

void Round::begins_later(Time now, JobId job, Time at) {
  Progress& state = progress_[index(job)];
  ALMANAC_CHECK(state.phase == Phase::running && state.since == now && at > now,
                "job {} begins {} s late", index(job), seconds(at - now));
  if (state.start == now) state.start = at;
  state.since = at;
  ++held_back_.jobs;
  held_back_.waited += at - now;
}

void Round::charge(JobId job, Duration work) { progress_[index(job)].charged += work; }

void Round::withdraw(Time now, JobId job) {
  Progress& state = progress_[index(job)];
  ALMANAC_CHECK(state.phase == Phase::waiting, "job {} is withdrawn but does not wait", index(job));
  state.end = now;
  state.phase = Phase::withdrawn;
  --load_.jobs_waiting;
  load_.gpus_waiting -= asked_gpus(state);
  held_since_.erase(job);
  if (!holds_.empty()) holds_.erase(job);
}

void Round::set_nodes(VcId vc, int nodes) { ledger_.set_nodes(vc, nodes); }

void Round::booted(NodeId node) {
  ALMANAC_CHECK(ledger_.power(node) == cluster::Power::booting, "node {} does not boot",
                index(node));
  ledger_.set_power(node, cluster::Power::on);
  ledger_.commit();
}

/// Each job comes once and goes once; all else may be of the policy's own making.
void Round::check_time_goes_on(std::span<const Event> events) {
  constexpr int kMostRounds = 10'000;
  const bool any_job = std::any_of(events.begin(), events.end(), [](const Event& event) {
    return event.kind != EventKind::timer && event.kind != EventKind::capacity_changed;
  });
  rounds_at_it_ = any_job ? 0 : rounds_at_it_ + 1;
  ALMANAC_CHECK(rounds_at_it_ < kMostRounds,
                "policy {} asked {} times at {} s to be woken at that instant", name_,
                rounds_at_it_, seconds(at_));
}

void Round::run(Time now, std::span<const Event> events) {
  using Action = policy::Plan::Action;
  if (now != at_) {
    at_ = now;
    rounds_at_it_ = 0;
  } else {
    check_time_goes_on(events);
  }
  plan_.clear();
  view_.now = now;
  if (services_ != nullptr) view_.services = *services_;
  policy_.decide(holds_.empty() ? events : with_released(now, events), view_, plan_);
  const bool has_verbs = plan_.has_verbs();
  // Before the jobs that are to begin there.
  if (has_verbs) {
    for (const NodeId node : plan_.boots) actuator_.boot(node);
  }
  const auto changes = plan_.changes();
  for (const policy::Plan::Change& each : changes) {
    if (each.action == Action::stop || each.action == Action::move) check_and_stop(now, each);
  }
  if (has_verbs) carry_out_verbs(now);
  for (const policy::Plan::Change& each : changes) {
    if (each.action == Action::resize) check_and_resize(each);
  }
  for (const policy::Plan::Change& each : changes) {
    if (each.action == Action::start || each.action == Action::move) check_and_start(now, each);
  }
  ALMANAC_CHECK(ledger_.busy_gpu_milli() == busy_gpu_milli_,
                "the plan takes {} GPUs/1000 and says whose {} are", ledger_.busy_gpu_milli(),
                busy_gpu_milli_);
  ALMANAC_CHECK(ledger_.busy_cpu_milli() == busy_cpu_milli_,
                "the plan takes {} cores/1000 and says whose {} are", ledger_.busy_cpu_milli(),
                busy_cpu_milli_);
  ledger_.commit();
  if (!has_verbs) return;
  for (const JobId job : plan_.held_back) held_since_.try_emplace(job, now);
  for (const NodeId node : plan_.sleeps) actuator_.sleep(node);
}

std::span<const Event> Round::with_released(Time now, std::span<const Event> events) {
  told_.assign(events.begin(), events.end());
  std::vector<JobId> released;
  for (const auto& [job, until] : holds_) {
    if (until <= now) released.push_back(job);
  }
  std::sort(released.begin(), released.end());
  for (const JobId job : released) {
    holds_.erase(job);
    if (progress(job).phase != Phase::waiting) continue;
    told_.push_back({policy::EventKind::job_released, static_cast<std::uint32_t>(index(job)), 0});
  }
  std::stable_sort(told_.begin(), told_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
  return told_;
}

void Round::carry_out_verbs(Time now) {
  for (const JobId job : plan_.ended) cut_off(now, job);
  for (const JobId job : plan_.declined) {
    withdraw(now, job);
    progress_[index(job)].phase = Phase::declined;
    actuator_.decline(job);
  }
  for (const policy::Plan::Scale& each : plan_.scales) {
    ALMANAC_CHECK(index(each.service) < view_.services.size() && each.replicas >= 0,
                  "service {} of {} cannot have {} replicas", index(each.service),
                  view_.services.size(), each.replicas);
    actuator_.scale(each.service, each.replicas);
  }
  for (const policy::Plan::Hold& hold : plan_.holds) {
    ALMANAC_CHECK(progress(hold.job).phase == Phase::waiting, "job {} is held but does not wait",
                  index(hold.job));
    holds_[hold.job] = hold.until;
    plan_.wake(std::max(now, hold.until));
  }
}

void Round::cut_off(Time now, JobId job) {
  const bool runs = progress(job).phase == Phase::running;
  if (!runs) {
    withdraw(now, job);
  } else {
    Progress& state = progress_[index(job)];
    for (const cluster::Grant& grant : grants(job)) count(grant, -1);
    state.attained += now - state.since;
    state.end = now;
    --load_.jobs_running;
    if (has_boards_) on_boards_.erase(job);
    if (plan_.quotas != nullptr) plan_.quotas->give_back(plan_.quotas->of(job));
  }
  progress_[index(job)].phase = Phase::cut_off;
  configs_.erase(job);
  actuator_.end(job, runs);
}

void Round::suspend(Time now, JobId job, Duration cost) {
  Progress& state = progress_[index(job)];
  for (const cluster::Grant& grant : grants(job)) count(grant, -1);
  state.attained += std::max(Duration{0}, now - state.since);  // its nodes may not have booted
  state.since = now;
  state.charged += cost;
  state.phase = Phase::waiting;
  if (has_boards_) on_boards_.erase(job);
  --load_.jobs_running;
  ++load_.jobs_waiting;
  load_.gpus_waiting += asked_gpus(state);
}

void Round::fail(Time now, JobId job) {
  ALMANAC_CHECK(progress(job).phase == Phase::running, "job {} fails but does not run", index(job));
  view_.now = now;
  fail(now, job, view_.restart.of_failure(view_.request(job), view_.worked(job), grants(job)));
}

void Round::fail(Time now, JobId job, Duration cost) {
  ALMANAC_CHECK(progress(job).phase == Phase::running, "job {} fails but does not run", index(job));
  for (const cluster::Grant& grant : grants(job)) ledger_.give_back(grant);
  view_.now = now;
  suspend(now, job, cost);
  ledger_.commit();
  if (plan_.quotas != nullptr) plan_.quotas->give_back(plan_.quotas->of(job));
  if (out_.empty()) return;
  for (const cluster::Grant& grant : grants(job)) take_out(grant.node);
}

void Round::set_config(JobId job, const policy::Config& config) {
  if (config == policy::Config{}) {
    configs_.erase(job);
  } else {
    configs_[job] = config;
  }
}

void Round::check_and_stop(Time now, const policy::Plan::Change& stop) {
  ALMANAC_CHECK(progress(stop.job).phase == Phase::running, "job {} is stopped but does not run",
                index(stop.job));
  view_.now = now;
  suspend(now, stop.job,
          view_.cost(stop.job, {.grants = plan_.grants(stop), .config = stop.config}));
  ++progress_[index(stop.job)].preemptions;
  if (stop.action == policy::Plan::Action::move) {
    actuator_.vacate(stop.job);
  } else {
    actuator_.stop(stop.job);
  }
}

void Round::check_and_resize(const policy::Plan::Change& resize) {
  const Progress& state = progress_[index(resize.job)];
  ALMANAC_CHECK(state.phase == Phase::running, "job {} is resized but does not run",
                index(resize.job));
  const std::span<const cluster::Grant> held = plan_.grants(resize);
  cluster::Grant* const own = grants_.data() + state.first_grant;
  ALMANAC_CHECK(held.size() == state.num_grants, "job {} is resized to {} nodes, it runs on {}",
                index(resize.job), held.size(), state.num_grants);
  for (std::size_t at = 0; at < held.size(); ++at) {
    ALMANAC_CHECK(held[at].is_place_of(own[at]),
                  "job {} is resized on node {} mask {:x}, it runs on node {} mask {:x}",
                  index(resize.job), index(held[at].node), held[at].gpus, index(own[at].node),
                  own[at].gpus);
    count(own[at], -1);
    own[at] = held[at];
    count(own[at], +1);
  }
  set_config(resize.job, resize.config);
  actuator_.resize(resize.job);
}

void Round::check_and_start(Time now, const policy::Plan::Change& start) {
  Progress& state = progress_[index(start.job)];
  ALMANAC_CHECK(state.phase == Phase::waiting, "job {} starts but does not wait", index(start.job));
  ALMANAC_CHECK(holds_.empty() || view_.held_until(start.job) <= now, "job {} starts but is held",
                index(start.job));
  const std::span<const cluster::Grant> held = plan_.grants(start);
  int given = 0;
  for (const cluster::Grant& grant : held) {
    ALMANAC_CHECK(cluster_.nodes[index(grant.node)].vc == state.vc,
                  "job {} of another virtual cluster on node {}", index(start.job),
                  index(grant.node));
    given += grant.count();
    count(grant, +1);
  }
  ALMANAC_CHECK(given == asked_gpus(state) || accepts(start.job, given),
                "job {} asks {} GPUs and is given {}, which will not do", index(start.job),
                asked_gpus(state), given);
  const int linked = admission_.demands()[index(state.demand)].nvlink_gpus;
  ALMANAC_CHECK(ledger_.in_domains(held, linked),
                "job {} asks groups of {} GPUs in one NVLink domain and is given others",
                index(start.job), linked);
  remember_grants(start.job, held);
  if (has_boards_) note_on_boards(start.job);
  state.since = now;
  if (state.start == kNoTime) state.start = now;
  state.phase = Phase::running;
  --load_.jobs_waiting;
  ++load_.jobs_running;
  load_.gpus_waiting -= asked_gpus(state);
  if (!configs_.empty() || start.config != policy::Config{}) set_config(start.job, start.config);
  if (!held_since_.empty()) note_start(now, start.job);
  actuator_.start(start.job);
}

bool Round::accepts(JobId job, int gpus) const {
  const trace::Request& request = trace_.jobs[index(job)].request;
  if (gpus > 0 && gpus <= request.max_gpus && gpus % trace::size_step(request) == 0) return true;
  const std::span<const policy::Acceptable> acceptable = view_.acceptable(job);
  return std::any_of(acceptable.begin(), acceptable.end(), [&](const policy::Acceptable& each) {
    return admission_.demands()[index(each.demand)].gpus == gpus;
  });
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

void Round::remember_grants(JobId job, std::span<const cluster::Grant> held) {
  Progress& state = progress_[index(job)];
  constexpr std::size_t kMostNodes = std::numeric_limits<std::uint16_t>::max();
  ALMANAC_CHECK(held.size() <= kMostNodes, "job {} is given {} nodes, more than {}", index(job),
                held.size(), kMostNodes);
  // A job that runs again reuses its places if they are enough.
  if (held.size() > state.max_grants) {
    state.first_grant = static_cast<std::uint32_t>(grants_.size());
    state.max_grants = static_cast<std::uint16_t>(held.size());
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
  policy::View view(cluster_, rng, records());
  view.now = now;
  view.speeds = view_.speeds;
  view.telemetry = view_.telemetry;
  view.signals = view_.signals;
  view.restart = cost_;
  policy::Reason reason = policy_.why_waiting(job, view, ledger_);
  using policy::ReasonKind;
  const bool lacks_gpus =
      reason.kind == ReasonKind::short_of_gpus || reason.kind == ReasonKind::fragmented;
  const Progress& state = progress(job);
  const cluster::Demand& wanted = view.demand(state.demand);
  if (lacks_gpus && wanted.profile != slices::kNoProfile) reason = why_no_instance(job);
  if (reason.kind == ReasonKind::fragmented) name_nvlink(ledger_, state.vc, wanted, reason);
  if (lacks_gpus) name_part(ledger_, state.vc, wanted, reason);
  ledger_.commit();
  if (reason.kind == policy::ReasonKind::at_quota && !limits_.empty()) {
    const double left = limits_.left(progress(job).tenant, *plan_.quotas);
    const policy::Quotas::Claim& claim = (*plan_.quotas)[plan_.quotas->of(job)];
    if (static_cast<double>(claim.milli()) > left * cluster::kWholeGpu) {
      reason.kind = policy::ReasonKind::at_limit;
      reason.available = std::max(0, static_cast<std::int32_t>(left));
    }
  }
  return reason;
}

void Round::note_on_boards(JobId job) {
  for (const cluster::Grant& grant : grants(job)) {
    if (ledger_.pool(grant.node).board == nullptr) continue;
    on_boards_.insert(job);
    return;
  }
}

policy::Reason Round::why_no_instance(JobId job) {
  const Progress& state = progress(job);
  cluster::Demand one = admission_.demands()[index(state.demand)];
  policy::Reason reason{
      .kind = policy::ReasonKind::no_instance, .profile = one.profile, .wanted = one.gpus};
  if (one.gpus > 1) return reason;  // several jobs may have to end
  const auto fits = [&] {
    if (ledger_.find_part(state.vc, one).gpus != 0) return true;
    const std::span<const cluster::Pool> pools = ledger_.pools(state.vc);
    return std::any_of(pools.begin(), pools.end(), [&](const cluster::Pool& pool) {
      const cluster::Amount wanted{1, one.cpu_milli, one.memory_mb};
      if (!pool.suits(one)) return false;
      for (int free = pool.tightest(1); free > 0; free = pool.tightest(free + 1)) {
        if (pool.find(free, wanted) != kNoNode) return true;
      }
      return false;
    });
  };
  std::pair<Time, Time> first{Time::max(), Time::max()};
  for (const JobId other : on_boards_) {
    const Progress& its = progress(other);
    const Duration limit = trace_.jobs[index(other)].request.time_limit;
    const std::pair ends{limit == kNoDuration ? kNever : its.since - its.attained + limit,
                         its.since};
    if (its.vc != state.vc || ends >= first) continue;
    const std::size_t before = ledger_.mark();
    for (const cluster::Grant& grant : grants(other)) ledger_.give_back(grant);
    if (fits()) {
      first = ends;
      reason.other = other;
    }
    ledger_.undo(before);
  }
  return reason;
}

}  // namespace almanac::schedule
