// SPDX-License-Identifier: Apache-2.0
#include "service/shadow.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/step_back.h"
#include "energy/power_file.h"
#include "experiment/summary.h"
#include "schedule/admission.h"
#include "schedule/hosts.h"
#include "schedule/past_use.h"
#include "service/log.h"
#include "service/policies.h"
#include "stats/quantile.h"
#include "trace/eligible.h"

namespace almanac::service {
namespace {

constexpr std::chrono::minutes kAgain{10};
constexpr Duration kWindow = 24h * 14;

Figures figures_of(const experiment::Summary& summary) {
  Figures made{.jobs = static_cast<std::int64_t>(summary.finished),
               .avg_wait_s = summary.avg_wait_s,
               .p99_wait_s = summary.p99_wait_s,
               .avg_jct_s = summary.avg_jct_s,
               .p99_jct_s = summary.p99_jct_s,
               .preemptions = static_cast<std::int64_t>(summary.preemptions)};
  if (summary.deadline_jobs > 0) made.guarantee = summary.guarantee;
  return made;
}

Figures figures_of(const std::vector<trace::Job>& jobs) {
  Figures made;
  std::vector<double> waits;
  std::vector<double> jcts;
  int with_deadline = 0;
  int in_time = 0;
  for (const trace::Job& job : jobs) {
    if (trace::never_ran(job)) continue;  // as in the summary of a simulation
    ++made.jobs;
    const Duration jct = job.outcome.end - job.request.submit;
    jcts.push_back(seconds(jct));
    waits.push_back(seconds(jct - job.outcome.run));
    made.preemptions += std::max(0, job.outcome.attempts - 1);
    if (job.request.deadline == kNoTime) continue;
    ++with_deadline;
    in_time += job.outcome.end <= job.request.deadline ? 1 : 0;
  }
  const auto mean = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  made.avg_wait_s = mean(waits);
  made.avg_jct_s = mean(jcts);
  made.p99_wait_s = stats::quantile(waits, 0.99);
  made.p99_jct_s = stats::quantile(jcts, 0.99);
  if (with_deadline > 0) made.guarantee = static_cast<double>(in_time) / with_deadline;
  return made;
}

}  // namespace

Result<Comparison> compare(experiment::Past past, Time since, const cluster::Cluster& cluster,
                           const policy::Composition& policy, const policy::Composition& shadow,
                           std::uint64_t seed, const std::atomic<bool>* stop, Duration age_cap) {
  trace::Trace& log = past.log;
  const auto first = std::find_if(log.jobs.begin(), log.jobs.end(), [&](const trace::Job& job) {
    return job.request.submit >= since;
  });
  const std::vector<trace::Job> lessons(log.jobs.begin(), first);
  log.jobs.erase(log.jobs.begin(), first);
  // Jobs that were withdrawn stood in the queue until then.
  std::erase_if(log.jobs, [](const trace::Job& job) {
    return job.outcome.start == kNoTime &&
           (!trace::never_ran(job) || trace::withdrawn_at(job) == kNever);
  });
  if (std::all_of(log.jobs.begin(), log.jobs.end(), trace::never_ran)) {
    return fail(Code::unavailable, "no job has ended yet, so there is nothing to compare");
  }
  const auto power = energy::read_power("dgx1");
  if (!power) return tl::unexpected(power.error());
  const policy::Quotas quotas = past.quotas.of(log.jobs);
  const auto used = schedule::past_use_of(lessons, schedule::Admission(cluster, log.names));
  const auto play = [&](const policy::Composition& composition) {
    const auto made = schedule::make_policy(
        composition,
        schedule::PlayedHost{
            .estimator = taught_estimator(composition, log, lessons), .past_use = used, .site = {}},
        {.age_cap = age_cap,
         .is_kept = [&](JobId job) { return past.kept.contains(log.jobs[index(job)].id); }});
    const sim::Options options{.policy = composition.name,
                               .restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s},
                               .seed = seed,
                               .quotas = quotas.empty() ? nullptr : &quotas,
                               .watch = {.stop = stop}};
    const sim::Schedule schedule = sim::simulate(log, cluster, *made, options);
    return figures_of(experiment::summarize(composition, log, schedule, *power));
  };
  return Comparison{.since = since,
                    .policy = policy.name,
                    .shadow = shadow.name,
                    .real = figures_of(log.jobs),
                    .played = play(policy),
                    .other = play(shadow)};
}

Shadow::Shadow(Past past, const cluster::Cluster& cluster, std::uint64_t seed, Duration age_cap,
               const Clock& clock)
    : past_(std::move(past)),
      cluster_(cluster),
      seed_(seed),
      age_cap_(age_cap),
      clock_(clock),
      thread_([this] { work(); }) {}

Shadow::~Shadow() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  thread_.join();
}

void Shadow::watch(const policy::Composition& policy, std::optional<policy::Composition> shadow) {
  {
    const std::lock_guard lock(mutex_);
    policy_ = policy;
    shadow_ = std::move(shadow);
    last_.reset();
    changed_ = true;
  }
  news_.notify_all();
}

std::optional<Comparison> Shadow::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void Shadow::work() {
  step_back();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    changed_ = false;
    if (shadow_) {
      const policy::Composition policy = policy_;
      const policy::Composition shadow = *shadow_;
      lock.unlock();
      const Time now = clock_.wall();
      auto past = past_();
      Result<Comparison> made = tl::unexpected(Error{});
      if (past) {
        made = compare(std::move(*past), now - kWindow, cluster_, policy, shadow, seed_, &stop_,
                       age_cap_);
      } else {
        log_warning(to_string(past.error()));
      }
      lock.lock();
      if (made && !changed_ && !stop_) {
        made->at = now;
        last_ = std::move(*made);
      }
    }
    news_.wait_for(lock, kAgain, [&] { return stop_ || changed_; });
  }
}

}  // namespace almanac::service
