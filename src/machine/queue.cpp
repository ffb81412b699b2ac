// SPDX-License-Identifier: Apache-2.0
#include "machine/queue.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "machine/room_short.h"
#include "schedule/hosts.h"
#include "schedule/past_use.h"
#include "schedule/tenant_limits.h"
#include "service/log.h"
#include "store/log.h"

namespace almanac::machine {

using policy::EventKind;
using store::JobNumber;
using trace::JobState;

namespace {

/// Beginning again takes time with each job that has not ended. It takes little if this many times
/// as many have ended.
constexpr std::size_t kWorthIt = 20;
/// Stopping a process costs the work since its checkpoint, of which nothing is known.
constexpr schedule::RestartCost kNoCost{.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};

policy::Event event_of(EventKind kind, const Entry& entry) {
  return {kind, static_cast<std::uint32_t>(index(entry.id))};
}

schedule::Past past_of(const store::Job& job) {
  return {.since = job.since,
          .start = job.start,
          .attained = job.attained,
          .preemptions = static_cast<std::uint32_t>(job.preemptions)};
}

}  // namespace

Queue::Queue(State& state, policy::Composition composition)
    : state_(state),
      composition_(std::move(composition)),
      measured_(state.book, numbers_, state.config.measuring,
                state.config.machine.cluster.nodes.size()) {
  admission_.emplace(state.config.machine.cluster, trace_->names);
}

std::optional<std::string> Queue::why_never(const store::Job& job) {
  const trace::Job record = store::record_of(job, trace_->names);
  const VcId vc = admission_->vc(record.request);
  const DemandId demand = admission_->demand(record.request, vc);
  auto reason = admission_->never(vc, demand);
  if (!reason) {
    const cluster::Demand& asked = admission_->demands()[index(demand)];
    const int fewest = job.asked->max_gpus > 0 ? job.asked->min_gpus : asked.gpus;
    const schedule::TenantLimits limits(state_.config.machine.cluster);
    reason = limits.never(std::clamp(fewest, std::min(1, asked.gpus), asked.gpus), asked.gpu_milli,
                          admission_->tenant(record.request));
  }
  if (!reason) return std::nullopt;
  const std::string said = policy::to_string(*reason, "");
  constexpr std::string_view kNever = "never: ";  // the caller says so itself
  return said.starts_with(kNever) ? said.substr(kNever.size()) : said;
}

std::string Queue::room_short(const Entry& entry) {
  const VcId vc = round_->progress(entry.id).vc;
  const DemandId demand = admission_->demand(record_of(entry).request, vc);
  return machine::room_short(state_.config.machine.cluster, round_->ledger(), vc,
                             admission_->demands()[index(demand)]);
}

std::optional<policy::Reason> Queue::join(Entry& entry) {
  const store::Job& job = entry.job;
  entry.id = JobId{static_cast<std::uint32_t>(trace_->jobs.size())};
  trace_->jobs.push_back(as_policy_knows(job, trace_->names));
  numbers_.push_back(job.number);
  state_.book.count_task(job, +1);
  auto never = round_->admit(entry.id, past_of(job));
  if (!never) events_.push_back(event_of(EventKind::job_arrived, entry));
  return never;
}

void Queue::finish(Entry& entry, Time at) {
  if (is_running(entry)) {
    round_->end(at, entry.id);
    events_.push_back(event_of(EventKind::job_ended, entry));
  } else if (is_waiting(entry)) {
    withdraw(entry);  // a stopped job has ended by itself
  }
}

void Queue::withdraw(Entry& entry) {
  round_->withdraw(state_.now, entry.id);
  events_.push_back(event_of(EventKind::job_withdrawn, entry));
  forget(entry);
}

void Queue::forget(Entry& entry) {
  if (entry.id == kNoJob) return;
  state_.book.count_task(entry.job, -1);
  entry.id = kNoJob;
}

bool Queue::report(const Report& report) {
  const Entry& entry = *state_.book.find(report.job);
  if (!is_running(entry)) return false;
  policy::Event event = event_of(EventKind::job_reported, entry);
  event.value = report.metric;
  events_.push_back(event);
  return true;
}

void Queue::set_out_of_service(NodeId node, const Outage& outage) {
  round_->set_drained(node, !outage.takes_jobs(node));
  round_->set_out(node, outage.mask(node));
  const VcId vc = state_.config.machine.cluster.nodes[index(node)].vc;
  events_.push_back({EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))});
}

void Queue::fire_timers() {
  for (; !wakes_.empty() && *wakes_.begin() <= state_.now; wakes_.erase(wakes_.begin())) {
    if (events_.empty() || events_.back().kind != EventKind::timer) {
      events_.push_back({EventKind::timer, 0});
    }
  }
}

bool Queue::run_round() {
  if (events_.empty() || is_held_back_) return false;
  std::vector<policy::Event> told = std::exchange(events_, {});
  std::stable_sort(told.begin(), told.end(),
                   [](const policy::Event& a, const policy::Event& b) { return a.kind < b.kind; });
  round_->run(state_.now, told);
  for (const Time wake : round_->wakes()) {
    if (wake > state_.now) {
      wakes_.insert(wake);
    } else if (events_.empty()) {
      events_.push_back({EventKind::timer, 0});
    }
  }
  return true;
}

Time Queue::next_round() const {
  if (!events_.empty() && !is_held_back_) return state_.now;
  return wakes_.empty() ? kNever : *wakes_.begin();
}

bool Queue::is_worn() const {
  const schedule::Load& load = round_->load();
  const auto unfinished = static_cast<std::size_t>(load.jobs_waiting + load.jobs_running);
  const std::size_t ended = trace_->jobs.size() - unfinished;
  return ended >= state_.config.most_ended && ended >= kWorthIt * unfinished;
}

std::shared_ptr<void> Queue::release() {
  if (!policy_) return nullptr;
  admission_.reset();
  struct Former {
    std::unique_ptr<trace::Trace> trace;
    std::unique_ptr<policy::Policy> policy;
    std::unique_ptr<schedule::Round> round;  // the first to end: it refers to both
  };
  return std::make_shared<Former>(
      Former{.trace = std::move(trace_), .policy = std::move(policy_), .round = std::move(round_)});
}

std::vector<Queue::Refused> Queue::begin(Successor next, schedule::Actuator& actuator,
                                         const Outage& outage) {
  std::vector<Entry*> running;
  std::vector<Entry*> waiting;
  for (auto& [number, entry] : state_.book.all()) {
    if (entry.id == kNoJob) continue;
    (entry.job.state == JobState::running ? running : waiting).push_back(&entry);
  }
  const auto by_since = [](const Entry* a, const Entry* b) { return a->job.since < b->job.since; };
  std::stable_sort(running.begin(), running.end(), by_since);
  std::stable_sort(waiting.begin(), waiting.end(), by_since);

  composition_ = std::move(next.composition);
  trace_ = std::move(next.trace);
  numbers_.clear();
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  for (const std::vector<Entry*>* const entries : {&running, &waiting}) {
    for (Entry* const entry : *entries) {
      entry->id = JobId{static_cast<std::uint32_t>(trace_->jobs.size())};
      trace_->jobs.push_back(as_policy_knows(entry->job, trace_->names));
      numbers_.push_back(entry->job.number);
    }
  }
  admission_.emplace(cluster, trace_->names);
  auto past_use = std::make_shared<std::vector<policy::PastUse>>(std::move(next.past_use));
  for (const std::vector<Entry*>* const entries : {&running, &waiting}) {
    for (const Entry* const entry : *entries) {
      const store::Job& job = entry->job;
      const trace::Request& request = record_of(*entry).request;
      const bool runs = job.state == JobState::running;
      const Duration ran = job.attained + (runs ? state_.now - job.since : Duration{0});
      schedule::add_past_use(request, admission_->tenant(request), job.start,
                             runs ? state_.now : job.since, ran, *past_use);
    }
  }
  policy_ = schedule::make_policy(
      composition_,
      schedule::RealHost{.estimator = std::move(next.estimator),
                         .past_use = std::move(past_use),
                         .past_reports = past_reports(),
                         .type_speeds = std::make_shared<predict::TypeSpeeds>(),
                         .may_share = {},
                         .is_on = {},
                         .site = {}},
      {.age_cap = state_.config.age_cap,
       .is_kept = [this](JobId job) { return entry_of(job).job.asked->kept; }});
  round_ = std::make_unique<schedule::Round>(cluster, *trace_, *policy_, actuator, kNoCost,
                                             state_.config.seed, composition_.name);
  round_->observe(nullptr, &measured_);
  events_.clear();
  wakes_.clear();
  for (const Entry* const entry : running) {
    const auto never = round_->adopt(entry->id, entry->job.held_gpus, past_of(entry->job));
    ALMANAC_CHECK(!never, "job {} runs and could not start", entry->job.number);
    events_.push_back(event_of(EventKind::job_adopted, *entry));
  }
  // After the jobs that run there, which keep what they hold.
  for (std::uint32_t at = 0; at < cluster.nodes.size(); ++at) {
    round_->set_drained(NodeId{at}, !outage.takes_jobs(NodeId{at}));
    round_->set_out(NodeId{at}, outage.mask(NodeId{at}));
  }
  std::vector<Refused> refused;
  for (Entry* const entry : waiting) {
    if (const auto never = round_->admit(entry->id, past_of(entry->job))) {
      refused.push_back({entry, *never});
    } else {
      events_.push_back(event_of(EventKind::job_arrived, *entry));
    }
  }
  return refused;
}

policy::PastReports Queue::past_reports() const {
  std::map<JobNumber, JobId> trials;
  for (std::size_t at = 0; at < numbers_.size(); ++at) {
    trials.emplace(numbers_[at], JobId{static_cast<std::uint32_t>(at)});
  }
  return [this, trials = std::move(trials), until = state_.now](NameId group) {
    std::vector<policy::PastReport> made;
    auto told = state_.store.reports(std::string(trace_->names[group]));
    if (!told) {
      service::log_warning(to_string(told.error()));
      return made;
    }
    std::erase_if(*told, [&](const store::Report& each) { return each.at > until; });
    std::stable_sort(told->begin(), told->end(), [](const auto& a, const auto& b) {
      return std::tuple(a.at, a.step) < std::tuple(b.at, b.step);
    });
    std::map<JobNumber, bool> smaller;  // whether a smaller metric is better, by job
    for (const store::Report& each : *told) {
      const auto trial = trials.find(each.job);
      const auto [is_smaller, is_new] = smaller.try_emplace(each.job);
      if (is_new) {
        const auto job = state_.store.job(each.job);
        is_smaller->second = job && *job && (*job)->asked->smaller_is_better;
      }
      made.push_back({.trial = trial == trials.end() ? kNoJob : trial->second,
                      .number = static_cast<std::int64_t>(each.job),
                      .step = each.step,
                      .metric = is_smaller->second ? -each.metric : each.metric});
    }
    return made;
  };
}

}  // namespace almanac::machine
