// SPDX-License-Identifier: Apache-2.0

/// \file
/// One policy after the other: another one that is wanted, or the same anew, without the jobs that
/// have ended meanwhile. What it believes is learned from the store, which takes long and is done
/// where nothing waits for it; the new one then takes over between two rounds.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/step_back.h"
#include "machine/core.h"
#include "predict/replay.h"
#include "schedule/hosts.h"
#include "schedule/past_use.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/policies.h"
#include "store/log.h"

namespace almanac::machine {

using policy::EventKind;
using store::JobNumber;
using trace::JobState;

namespace {

/// Beginning anew takes time with each job that has not ended: of so many times as many that have,
/// it is little.
constexpr std::size_t kWorthIt = 20;
/// A store that could not be read is read again after so long.
constexpr Duration kPrepareAgain = 1min;
/// A process costs nothing to stop but the work since its checkpoint, of which nothing is told.
constexpr schedule::RestartCost kNoCost{.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};

}  // namespace

Result<Core::Successor> Core::prepare(policy::Composition composition, Time now) const {
  auto log = store_.log(now - service::kLesson, service::kLessons);
  if (!log) return tl::unexpected(log.error());
  std::erase_if(log->jobs, [&](const trace::Job& job) { return job.outcome.end >= now; });
  Successor made{.composition = std::move(composition),
                 .trace = std::make_unique<trace::Trace>(std::move(*log)),
                 .taught_until = now};
  made.estimator = service::taught_estimator(made.composition, *made.trace, made.trace->jobs);
  made.estimator->answer_at_once(now);
  const schedule::Admission owners(config_.machine.cluster, made.trace->names);
  for (const trace::Job& job : made.trace->jobs) {
    schedule::add_past_use(job.request, owners.tenant(job.request), job.outcome.start,
                           job.outcome.end, job.outcome.run, made.past_use);
  }
  made.trace->jobs = {};
  return made;
}

Core::Successor Core::untaught(policy::Composition composition) const {
  Successor made{.composition = std::move(composition),
                 .trace = std::make_unique<trace::Trace>(),
                 .taught_until = now_,
                 .is_taught = false};
  made.estimator = service::taught_estimator(made.composition, *made.trace, {});
  return made;
}

void Core::take_in() {
  book_.open_due(now_);
  const std::set<JobNumber> all = book_.anteroom().in({WaitsFor::What::a_look});
  for (const JobNumber number : all) {
    Entry& entry = *book_.find(number);
    if (waits_for(entry).what != WaitsFor::What::nothing) continue;
    entry.id = JobId{0};
    book_.count_task(entry.job, +1);
    book_.wait(entry, {});
  }
}

void Core::catch_up(Successor& next) const {
  auto ended = store_.jobs({.ended_since = next.taught_until});
  if (!ended) return service::log_warning(to_string(ended.error()));
  std::vector<trace::Job> lessons;
  const schedule::Admission owners(config_.machine.cluster, next.trace->names);
  for (auto job = ended->rbegin(); job != ended->rend(); ++job) {
    if (job->start == kNoTime || job->state == JobState::running) continue;
    const trace::Job& lesson = lessons.emplace_back(store::record_of(*job, next.trace->names));
    schedule::add_past_use(lesson.request, owners.tenant(lesson.request), job->start, job->end,
                           job->attained, next.past_use);
  }
  predict::teach(*next.estimator, lessons);
}

void Core::begin_policy(Successor next) {
  struct Known {
    Entry* entry;
    schedule::Past past;
  };
  std::vector<Known> running;
  std::vector<Known> waiting;
  if (next.is_taught && std::exchange(learns_, false)) {
    holds_back_ = false;
    outbox_.set(service::kLearnsKey, "0");
    take_in();
  }
  for (auto& [number, entry] : book_.all()) {
    if (entry.id == kNoJob) continue;
    const store::Job& job = entry.job;
    const schedule::Past past{.since = job.since,
                              .start = job.start,
                              .attained = job.attained,
                              .preemptions = static_cast<std::uint32_t>(job.preemptions)};
    (job.state == JobState::running ? running : waiting).push_back({&entry, past});
  }
  const auto by_since = [](const Known& a, const Known& b) { return a.past.since < b.past.since; };
  std::stable_sort(running.begin(), running.end(), by_since);
  std::stable_sort(waiting.begin(), waiting.end(), by_since);

  catch_up(next);
  retire_policy();
  renewal_.supersede();
  composition_ = std::move(next.composition);
  trace_ = std::move(next.trace);
  numbers_.clear();
  line_ = {};
  for (const std::vector<Known>* const jobs : {&running, &waiting}) {
    for (const Known& known : *jobs) {
      known.entry->id = JobId{static_cast<std::uint32_t>(trace_->jobs.size())};
      trace_->jobs.push_back(as_policy_knows(known.entry->job, trace_->names));
      numbers_.push_back(known.entry->job.number);
    }
  }
  admission_.emplace(config_.machine.cluster, trace_->names);
  auto past_use = std::make_shared<std::vector<policy::PastUse>>(std::move(next.past_use));
  for (const std::vector<Known>* const jobs : {&running, &waiting}) {
    for (const Known& known : *jobs) {
      const trace::Request& request = trace_->jobs[index(known.entry->id)].request;
      const bool runs = known.entry->job.state == JobState::running;
      const Duration ran = known.past.attained + (runs ? now_ - known.past.since : Duration{0});
      schedule::add_past_use(request, admission_->tenant(request), known.past.start,
                             runs ? now_ : known.past.since, ran, *past_use);
    }
  }
  policy_ = schedule::make_policy(
      composition_,
      schedule::RealHost{.estimator = std::move(next.estimator),
                         .past_use = std::move(past_use),
                         .past_reports = past_reports(),
                         .type_speeds = std::make_shared<predict::TypeSpeeds>(),
                         .may_share = {},
                         .is_on = {}},
      {.age_cap = config_.age_cap,
       .is_kept = [this](JobId job) { return book_.find(numbers_[index(job)])->job.asked->kept; }});
  round_ = std::make_unique<schedule::Round>(config_.machine.cluster, *trace_, *policy_, *this,
                                             kNoCost, config_.seed, composition_.name);
  round_->observe(nullptr, &measured_);
  events_.clear();
  wakes_.clear();
  for (std::uint32_t at = 0; at < config_.machine.cluster.nodes.size(); ++at) {
    round_->set_drained(NodeId{at}, out_.drained.contains(NodeId{at}));
  }
  for (const Known& known : running) {
    const auto never = round_->adopt(known.entry->id, known.entry->job.held_gpus, known.past);
    ALMANAC_CHECK(!never, "job {} runs and could not start", known.entry->job.number);
    events_.push_back({EventKind::job_adopted, static_cast<std::uint32_t>(index(known.entry->id))});
  }
  for (std::uint32_t at = 0; at < config_.machine.cluster.nodes.size(); ++at) {
    round_->set_out(NodeId{at}, trouble_mask(NodeId{at}));
  }
  for (const Known& known : waiting) {
    if (const auto never = round_->admit(known.entry->id, known.past)) {
      happen(*known.entry,
             life::Ended{JobState::failed,
                         fmt::format("it can never run here: {}", policy::to_string(*never, ""))});
      continue;
    }
    events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(known.entry->id))});
  }
  changed_ = true;
  // What becomes of them from now on, it must not hear before it knows them.
  decide();
}

policy::PastReports Core::past_reports() const {
  std::map<JobNumber, JobId> trials;
  for (std::size_t at = 0; at < numbers_.size(); ++at) {
    trials.emplace(numbers_[at], JobId{static_cast<std::uint32_t>(at)});
  }
  return [this, trials = std::move(trials), until = now_](NameId group) {
    std::vector<policy::PastReport> made;
    auto told = store_.reports(std::string(trace_->names[group]));
    if (!told) {
      service::log_warning(to_string(told.error()));
      return made;
    }
    std::erase_if(*told, [&](const store::Report& each) { return each.at > until; });
    std::stable_sort(told->begin(), told->end(), [](const auto& a, const auto& b) {
      return std::tuple(a.at, a.step) < std::tuple(b.at, b.step);
    });
    std::map<JobNumber, bool> smaller;  // of jobs: is better
    for (const store::Report& each : *told) {
      const auto trial = trials.find(each.job);
      const auto [is_smaller, is_new] = smaller.try_emplace(each.job);
      if (is_new) {
        const auto job = store_.job(each.job);
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

void Core::retire_policy() {
  if (!policy_) return;
  admission_.reset();
  struct Old {
    std::unique_ptr<trace::Trace> trace;
    std::unique_ptr<policy::Policy> policy;
    std::unique_ptr<schedule::Round> round;  // the first to end: it refers to both
  };
  // An estimator ends with the fit that it is at.
  renewal_.retire(std::make_shared<Old>(
      Old{.trace = std::move(trace_), .policy = std::move(policy_), .round = std::move(round_)}));
}

bool Core::is_worn() const {
  const schedule::Load& load = round_->load();
  const auto unfinished = static_cast<std::size_t>(load.jobs_waiting + load.jobs_running);
  const std::size_t ended = trace_->jobs.size() - unfinished;
  return ended >= config_.most_ended && ended >= kWorthIt * unfinished;
}

void Core::prepare_aside() {
  const auto make = [this, is_urgent = holds_back_, composition = wanted_.value_or(composition_),
                     now = now_] {
    if (!is_urgent) step_back();
    return prepare(composition, now);
  };
  // Where no thread is to be had, the next step tries again.
  if (renewal_.begin(make, wanted_.has_value())) wanted_.reset();
}

void Core::renew_policy() {
  if (!renewal_.is_under_way()) {
    if (renewal_.may_begin(now_) && (wanted_ || learns_ || is_worn())) prepare_aside();
    return;
  }
  auto done = renewal_.take();
  if (!done) return;
  if (!done->made) {
    service::log_warning(
        fmt::format("the policy goes on as it is: {}", to_string(done->made.error())));
    holds_back_ = false;
    renewal_.put_off(now_ + kPrepareAgain);
  } else if (!done->is_stale) {
    begin_policy(std::move(*done->made));
    if (done->is_told) service::log_info(fmt::format("policy {} was read anew", config_.policy));
  }
  if (done->is_told) service::tell_ready(fmt::format("policy {}", config_.policy));
  if (wanted_) wake();  // a file that was read meanwhile
}

void Core::take_policy_file() {
  service::tell_reloading();
  auto made = service::compose(config_.policy);
  if (made) {
    wanted_ = std::move(*made);
    return renew_policy();
  }
  service::log_error(
      fmt::format("policy {} stays as it was: {}", config_.policy, to_string(made.error())));
  service::tell_ready(fmt::format("policy {}", config_.policy));
}

Result<void> Core::set_policy(const std::string& policy, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  auto made = service::compose(policy);
  if (!made) return tl::unexpected(made.error());
  const Time now = [this] {
    const Lock lock(mutex_);
    return clock_.now();
  }();
  // By whoever asks, while the rounds go on.
  auto prepared = prepare(std::move(*made), now);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto next = std::make_shared<Successor>(std::move(*prepared));
  return change([this, policy, next]() -> Result<Change> {
    Change change;
    change.kept.set(service::kPolicyKey, policy);
    change.act = [this, policy, next] {
      config_.policy = policy;
      outbox_.set(service::kPolicyKey, policy);  // in place of one that the disk has not taken yet
      wanted_.reset();
      begin_policy(std::move(*next));
    };
    return change;
  });
}

}  // namespace almanac::machine
