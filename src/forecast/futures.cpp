// SPDX-License-Identifier: Apache-2.0
#include "forecast/futures.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "forecast/first_instant.h"
#include "forecast/told_estimator.h"
#include "policy/registry.h"
#include "schedule/hosts.h"

namespace almanac::forecast {
namespace {

/// Whether the policy's estimate is the truth, or nearly: then it is, in each future, that
/// future's.
bool knows_truth(const policy::Composition& composition) {
  const policy::Entry& estimate = policy::registry().estimates.at(composition.estimate);
  return estimate.traits.has.has(policy::Trait::told_truth);
}

Duration at_rate(Duration work, double rate) {
  if (rate == 1) return work;
  return Duration{std::llround(static_cast<double>(work.count()) / rate)};
}

}  // namespace

Forecast::Forecast(Time at, std::vector<Time> starts, std::vector<Time> ends)
    : at_(at), starts_(std::move(starts)), ends_(std::move(ends)) {
  std::sort(starts_.begin(), starts_.end());
  std::sort(ends_.begin(), ends_.end());
}

double Forecast::chance_to_end_by(Time deadline) const {
  const auto in_time = std::upper_bound(ends_.begin(), ends_.end(), deadline) - ends_.begin();
  return static_cast<double>(in_time) / static_cast<double>(ends_.size());
}

// A further draw lies below the k-th least of n with probability k / (n + 1).

Forecast::Stretch Forecast::central(const std::vector<Time>& sorted, double share) {
  const double places = static_cast<double>(sorted.size()) + 1;
  const auto low = static_cast<std::ptrdiff_t>(std::floor(places * (1 - share) / 2));
  const auto last = static_cast<std::ptrdiff_t>(sorted.size()) - 1;
  const std::ptrdiff_t from = std::clamp<std::ptrdiff_t>(low - 1, 0, last);
  return {sorted[static_cast<std::size_t>(from)], sorted[static_cast<std::size_t>(last - from)]};
}

Time Forecast::by(const std::vector<Time>& sorted, double share) {
  const double places = static_cast<double>(sorted.size()) + 1;
  const auto place = static_cast<std::size_t>(std::ceil(places * share));
  return sorted[std::clamp<std::size_t>(place, 1, sorted.size()) - 1];
}

Duration draw_run(const predict::Belief& belief, Duration worked, double uniform) {
  if (!belief.distribution) return std::max(belief.run, worked);
  const predict::Distribution& likely = *belief.distribution;
  const double past = worked > Duration{0} ? likely.position(predict::log_time(worked)) : 0;
  constexpr double kNothingLeft = 1e-4;
  if (past > 1 - kNothingLeft) {
    return worked + Duration{std::llround(uniform * static_cast<double>(worked.count()))};
  }
  const double log = likely.quantile(past + uniform * (1 - past));
  return std::max(predict::from_log_time(log), worked);
}

namespace {

/// Plays the futures of one instant one after another.
class Player {
 public:
  Player(const Setting& setting, const sim::Present& present, const Beliefs& beliefs)
      : setting_(setting),
        present_(present),
        beliefs_(beliefs),
        runs_(setting.trace.jobs.size()),
        options_(setting.options) {
    options_.range.from = &present_;
    options_.truth.run_times = &runs_;
    options_.range.last_arrival = present_.at;
    options_.policy = setting_.composition.name;
  }

  /// Simulates one future until `until` has ended; kNoJob = until all jobs have.
  sim::Schedule play(Rng rng, JobId until) {
    const auto policy = make_policy(draw_runs([&] { return rng.uniform(); }, until));
    // What fails is another draw in each future.
    if (options_.failures != nullptr) options_.seed = rng.next();
    options_.range.until_ended = until;
    return sim::simulate(setting_.trace, setting_.cluster, *policy, options_);
  }

  /// Returns whether the policy starts `job` at once.
  bool starts(JobId job) {
    const auto policy = make_policy(draw_runs([] { return 0.5; }, kNoJob));
    for (const sim::Present::Job& each : present_.running) {
      Duration& runs = runs_[index(each.job)];
      runs = std::max(runs, time_worked(each) + 1s);
    }
    return starts_at_once(setting_.trace, setting_.cluster, *policy, options_, present_, job);
  }

 private:
  static Duration time_worked(const sim::Present::Job& job) {
    return std::max(Duration{0}, job.worked - job.past.charged);
  }

  /// Gives each job a run time, and returns what the policy believes.
  template <typename Uniform>
  TellingEstimator::Told draw_runs(Uniform uniform, JobId until) {
    TellingEstimator::Told told;
    const sim::Present& all = setting_.drawn != nullptr ? *setting_.drawn : present_;
    const auto draw = [&](JobId job, Duration worked) {
      const Belief& belief = beliefs_.at(job);
      const Duration most = std::max(belief.most, worked);
      const Duration drawn = draw_run(belief.likely, worked, uniform());
      const double rate = job == until ? setting_.rate : 1;
      const Duration runs = std::min(at_rate(drawn, rate), most);
      runs_[index(job)] = options_.truth.speeds == nullptr ? runs : std::min(drawn, most);
      told[job] = told_of(belief, runs, rate);
    };
    for (const std::vector<sim::Present::Job>* jobs : {&all.running, &all.waiting}) {
      for (const sim::Present::Job& each : *jobs) draw(each.job, time_worked(each));
    }
    for (const JobId job : all.throttled) draw(job, Duration{0});
    return told;
  }

  std::unique_ptr<policy::Policy> make_policy(TellingEstimator::Told told) const {
    return schedule::make_policy(
        setting_.composition,
        schedule::PlayedHost{.estimator = std::make_unique<TellingEstimator>(std::move(told)),
                             .past_use = present_.past_use,
                             .site = {setting_.site, &setting_.trace.names, setting_.queues}},
        {.age_cap = setting_.age_cap,
         .is_kept = [this](JobId job) { return setting_.kept.contains(job); }});
  }

  /// What the policy believes of a job that takes `runs` in this future.
  predict::Belief told_of(const Belief& belief, Duration runs, double rate) const {
    const std::shared_ptr<const predict::Distribution>& likely = belief.likely.distribution;
    if (knows_truth(setting_.composition)) return {.run = runs, .distribution = likely};
    const predict::Belief& own = belief.own;
    return {.run = at_rate(own.run, rate),
            .bound = own.bound == kNoDuration ? kNoDuration : at_rate(own.bound, rate),
            .distribution = own.distribution ? own.distribution : likely};
  }

  const Setting& setting_;
  const sim::Present& present_;
  const Beliefs& beliefs_;
  std::vector<Duration> runs_;
  sim::Options options_;
};

/// Returns when a job starts next, or has started if it runs.
Time next_start(const sim::Schedule& schedule, JobId job) {
  const auto resumed = schedule.resumed.find(job);
  return or_never(resumed != schedule.resumed.end() ? resumed->second
                                                    : schedule.jobs[index(job)].start);
}

}  // namespace

Forecast play_futures(const Setting& setting, const sim::Present& present, const Beliefs& beliefs,
                      JobId job, int futures, std::uint64_t seed) {
  ALMANAC_CHECK(futures > 0, "{} futures", futures);
  Player player(setting, present, beliefs);
  std::vector<Time> starts;
  std::vector<Time> ends;
  for (int future = 0; future < futures; ++future) {
    const Rng rng(seed, (std::uint64_t{index(job)} << 32U) + static_cast<std::uint64_t>(future));
    const sim::Schedule schedule = player.play(rng, job);
    starts.push_back(next_start(schedule, job));
    ends.push_back(or_never(schedule.jobs[index(job)].end));
  }
  return {present.at, std::move(starts), std::move(ends)};
}

bool starts_at_once(const Setting& setting, const sim::Present& present, const Beliefs& beliefs,
                    JobId job) {
  return Player(setting, present, beliefs).starts(job);
}

std::vector<Forecast> play_queue(const Setting& setting, const sim::Present& present,
                                 const Beliefs& beliefs, int futures, std::uint64_t seed) {
  ALMANAC_CHECK(futures > 0, "{} futures", futures);
  Player player(setting, present, beliefs);
  std::vector<JobId> jobs;
  for (const sim::Present::Job& each : present.waiting) jobs.push_back(each.job);
  for (const sim::Present::Job& each : present.running) jobs.push_back(each.job);
  jobs.insert(jobs.end(), present.throttled.begin(), present.throttled.end());
  std::vector<std::vector<Time>> starts(jobs.size());
  std::vector<std::vector<Time>> ends(jobs.size());
  for (int future = 0; future < futures; ++future) {
    const sim::Schedule schedule =
        player.play(Rng(seed, static_cast<std::uint64_t>(future)), kNoJob);
    if (schedule.interrupted) return {};
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      starts[at].push_back(next_start(schedule, jobs[at]));
      ends[at].push_back(or_never(schedule.jobs[index(jobs[at])].end));
    }
  }
  std::vector<Forecast> made;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    made.emplace_back(present.at, std::move(starts[at]), std::move(ends[at]));
  }
  return made;
}

}  // namespace almanac::forecast
