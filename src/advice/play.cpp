// SPDX-License-Identifier: Apache-2.0
#include "advice/play.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "advice/candidates.h"
#include "advice/gain.h"
#include "base/check.h"
#include "experiment/profile.h"
#include "experiment/recorded_waits.h"
#include "predict/replay.h"
#include "schedule/past_use.h"
#include "sim/simulation.h"
#include "trace/eligible.h"

namespace almanac::advice {
namespace {

/// Played before the weeks that count: longer than nearly every job runs.
constexpr Duration kRunIn = 24h * 7;
/// Played before a part of these weeks.
constexpr Duration kRunInOfPart = 24h;
/// Before the first simulated job, in which those that run by then start.
constexpr Duration kSettling = 10min;
constexpr Duration kDay = 24h;

/// Ran, or left the queue at a known time; others would wait forever.
bool is_known(const trace::Job& job) {
  const bool ran = job.outcome.start != kNoTime || job.outcome.run > Duration::zero();
  return ran || (trace::never_ran(job) && trace::withdrawn_at(job) != kNever);
}

/// Returns what of `job`, which ran at `at`, was still to come; it joins then.
trace::Job rest_of(trace::Job job, Time at) {
  const Duration past = at - job.outcome.start;
  job.outcome.run = std::min(job.outcome.run, job.outcome.end - at);
  job.outcome.start = job.request.submit = at;
  if (job.request.time_limit != kNoDuration) {
    job.request.time_limit = std::max(job.outcome.run, job.request.time_limit - past);
  }
  return job;
}

/// Returns what of `job`, which ran at `at`, had been.
trace::Job past_of(trace::Job job, Time at) {
  job.outcome.run = std::min(job.outcome.run, at - job.outcome.start);
  job.outcome.end = at;
  return job;
}

}  // namespace

std::vector<Lived> kept(const std::vector<Lived>& lived, const std::vector<bool>& keep) {
  std::vector<Lived> made;
  for (std::size_t at = 0; at < lived.size(); ++at) {
    if (keep[at]) made.push_back(lived[at]);
  }
  return made;
}

Result<Play> Play::of(trace::Trace log, const cluster::Cluster& nodes, Duration weeks,
                      Conditions conditions) {
  const bool any_vc = std::any_of(log.jobs.begin(), log.jobs.end(), [&](const trace::Job& job) {
    return sim::is_simulated(job.request, nodes) && job.request.vc != kNoName;
  });
  std::erase_if(log.jobs, [](const trace::Job& job) { return !is_known(job); });
  if (std::all_of(log.jobs.begin(), log.jobs.end(), trace::never_ran)) {
    return fail(Code::unavailable, "the log has no job that ran");
  }
  const Time first = log.jobs.front().request.submit;
  const Time last = log.jobs.back().request.submit;
  const bool has_run_in = last - first > kRunIn + kFewestDays * kDay;
  const Time since = std::max(has_run_in ? first + kRunIn : first, last - weeks);
  return Play(std::move(log), since, last,
              any_vc || nodes.takes_every_job ? nodes : cluster::merged(nodes),
              std::move(conditions), kRunIn);
}

Play Play::part(Time from, Time until) const {
  trace::Trace log;
  log.knows_eligible = log_.knows_eligible;
  for (std::uint32_t name = 0; name < log_.names.size(); ++name) {
    log.names.intern(log_.names[NameId{name}]);
  }
  std::copy_if(log_.jobs.begin(), log_.jobs.end(), std::back_inserter(log.jobs),
               [&](const trace::Job& job) {
                 return job.request.submit >= from - kRunInOfPart && job.request.submit < until;
               });
  return Play(std::move(log), from, until, cluster_, conditions_, kRunInOfPart);
}

Play::Play(trace::Trace log, Time since, Time until, cluster::Cluster cluster,
           Conditions conditions, Duration run_in)
    : log_(std::move(log)),
      since_(since),
      until_(until),
      cluster_(std::move(cluster)),
      conditions_(std::move(conditions)) {
  std::erase_if(log_.jobs,
                [&](const auto& job) { return job.request.submit < since - kLooksBack; });
  const Time begin = since - run_in;
  const auto first = std::find_if(log_.jobs.begin(), log_.jobs.end(),
                                  [&](const auto& job) { return job.request.submit >= begin; });
  // The cluster is as full, and the queue as long, as the log says they were. Jobs that ran start
  // before those that waited can.
  const Time running_at = begin - kSettling;
  std::vector<trace::Job> running;
  std::vector<trace::Job> waiting;
  std::vector<trace::Job> used;
  for (auto job = log_.jobs.begin(); job != first; ++job) {
    const Time start = job->outcome.start;
    const bool is_known = start != kNoTime && job->outcome.end != kNoTime;
    const bool ran = is_known && start < running_at && !trace::never_ran(*job);
    if (ran && job->outcome.end > running_at) {
      running.push_back(rest_of(*job, running_at));
      used.push_back(past_of(*job, running_at));
    } else if (is_known && start >= running_at) {
      waiting.push_back(*job);
      waiting.back().request.submit = begin;
    } else if (!trace::never_ran(*job)) {
      lessons_.push_back(*job);
      used.push_back(*job);
    }
  }
  log_.jobs.erase(log_.jobs.begin(), first);
  log_.jobs.insert(log_.jobs.begin(), waiting.begin(), waiting.end());
  log_.jobs.insert(log_.jobs.begin(), running.begin(), running.end());
  log_.attempts.clear();
  log_.pieces.clear();
  for (std::uint32_t at = 0; at < log_.jobs.size(); ++at) {
    const trace::Request& request = log_.jobs[at].request;
    if (request.submit < since || !sim::is_simulated(request, cluster_)) continue;
    if (trace::never_ran(log_.jobs[at])) {
      ++never_ran_;
    } else {
      counted_.push_back(at);
    }
  }
  if (conditions_.quotas) quotas_ = conditions_.quotas->of(log_.jobs);
  past_use_ = schedule::past_use_of(used, schedule::Admission(cluster_, log_.names));
}

long long Play::day_of(std::size_t counted) const {
  return (request(counted).submit - since_) / kDay;
}

std::int64_t Play::days() const {
  std::set<long long> days;
  for (std::size_t at = 0; at < counted_.size(); ++at) days.insert(day_of(at));
  return static_cast<std::int64_t>(days.size());
}

std::int64_t Play::users() const {
  std::set<NameId> users;
  for (std::size_t at = 0; at < counted_.size(); ++at) users.insert(request(at).user);
  users.erase(kNoName);
  return static_cast<std::int64_t>(users.size());
}

std::optional<std::vector<Lived>> Play::under(const policy::Composition& composition,
                                              const Instead& instead) const {
  schedule::SiteRules rules = schedule::kNoSiteRules;
  if (!is_slurm(composition) && !is_kueue(composition)) rules.age_cap = conditions_.age_cap;
  if (!conditions_.kept.empty()) {
    rules.is_kept = [&](JobId job) { return conditions_.kept.contains(log_.jobs[index(job)].id); };
  }
  const auto& described = instead.site != nullptr ? instead.site : conditions_.site;
  const auto& queues = instead.queues != nullptr ? instead.queues : conditions_.queues;
  const cluster::Cluster& cluster = instead.cluster != nullptr ? *instead.cluster : cluster_;
  const auto policy = schedule::make_policy(
      composition,
      schedule::PlayedHost{
          .estimator = taught(composition),
          .past_use = past_use_,
          .site = {.description = described, .names = &log_.names, .queues = queues}},
      rules);
  const sim::Options options{
      .policy = composition.name,
      .restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s},
      .seed = conditions_.seed,
      .quotas = quotas_ ? &*quotas_ : nullptr,
      .watch = {
          .stop = conditions_.stop,
          .arrived = conditions_.progress == nullptr ? nullptr : conditions_.progress->arrivals()}};
  const sim::Schedule schedule = sim::simulate(log_, cluster, *policy, options);
  if (schedule.interrupted) return std::nullopt;
  std::vector<Lived> lived;
  lived.reserve(counted_.size());
  for (const std::uint32_t at : counted_) {
    const sim::JobResult result = schedule.jobs[at];
    Lived made{.ended = result.phase == policy::Phase::ended};
    const Time end = made.ended ? result.end : schedule.finish;
    made.jct_s = seconds(end - sim::joined(log_.jobs[at].request, result));
    made.wait_s = made.jct_s - seconds(result.ran);
    lived.push_back(made);
  }
  return lived;
}

std::vector<Lived> Play::really() const {
  std::vector<Lived> lived(counted_.size());
  for (std::size_t at = 0; at < counted_.size(); ++at) {
    const trace::Outcome& outcome = job(at).outcome;
    if (outcome.start == kNoTime) continue;
    const Time end = outcome.end != kNoTime ? outcome.end : outcome.start + outcome.run;
    lived[at].jct_s = seconds(end - request(at).submit);
    lived[at].wait_s = seconds(experiment::recorded_wait(job(at)));
    lived[at].ended = true;
  }
  return lived;
}

void Play::keep(const std::vector<bool>& keep) {
  std::vector<std::uint32_t> left;
  for (std::size_t at = 0; at < counted_.size(); ++at) {
    if (keep[at]) left.push_back(counted_[at]);
  }
  counted_ = std::move(left);
}

std::unique_ptr<predict::Estimator> Play::taught(const policy::Composition& composition) const {
  auto made = experiment::make_estimator(composition, log_);
  ALMANAC_CHECK(made, "estimate {} is not available", composition.estimate.name);
  predict::teach(**made, lessons_);
  return std::move(*made);
}

}  // namespace almanac::advice
