// SPDX-License-Identifier: Apache-2.0
#include "steer/canary.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/hosts.h"
#include "schedule/past_use.h"
#include "service/policies.h"
#include "sim/simulation.h"
#include "stats/quantile.h"
#include "steer/mark.h"
#include "steer/planned_round.h"
#include "steer/record.h"
#include "text/human.h"

namespace almanac::steer {
namespace {

/// An average of fewer jobs says nothing.
constexpr std::int64_t kFewest = 20;
/// Windows overlap: there are so many in the length of one.
constexpr int kSteps = 4;
constexpr double kQuantile = 0.99;
/// So much more of all jobs may always fail.
constexpr double kChance = 0.05;
/// So long a job may always wait: a controller has more to do.
constexpr Duration kLatency = 1min;

bool has_failed(trace::JobState state) {
  return state == trace::JobState::failed || state == trace::JobState::node_fail;
}

Course course_of(const manager::Job& job) {
  return {.since = waits_since(job),
          .start = waits(job) ? kNoTime : job.start,
          .end = job.state == manager::State::ended ? job.end : kNoTime,
          .failed = has_failed(job.outcome)};
}

}  // namespace

Averages averages(const std::vector<Course>& jobs, Time until, Duration window) {
  Averages made;
  const auto is_in = [&](Time at) { return at != kNoTime && at > until - window && at <= until; };
  for (const Course& job : jobs) {
    const bool waits_then = job.since <= until && (job.start == kNoTime || job.start > until);
    if (waits_then || is_in(job.start)) {
      ++made.waits;
      made.wait_s += seconds((waits_then ? until : job.start) - job.since);
    }
    if (!is_in(job.end)) continue;
    ++made.ended;
    made.failed += job.failed ? 1 : 0;
  }
  made.wait_s /= static_cast<double>(std::max<std::int64_t>(1, made.waits));
  made.failed /= static_cast<double>(std::max<std::int64_t>(1, made.ended));
  return made;
}

Result<Band> expect(experiment::Past past, const std::set<std::string>& vcs,
                    const cluster::Cluster& cluster, const policy::Composition& policy,
                    const CanarySettings& settings, Duration age_cap, std::uint64_t seed,
                    const std::atomic<bool>* stop) {
  trace::Trace& log = past.log;
  std::erase_if(log.jobs, [](const trace::Job& job) { return job.outcome.start == kNoTime; });
  Time last{};
  for (const trace::Job& job : log.jobs) last = std::max(last, job.request.submit);
  const auto first = std::find_if(log.jobs.begin(), log.jobs.end(), [&](const trace::Job& job) {
    return job.request.submit >= last - settings.history;
  });
  const std::vector<trace::Job> lessons(log.jobs.begin(), first);
  log.jobs.erase(log.jobs.begin(), first);
  std::vector<Course> courses;
  std::vector<std::size_t> numbers;
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    const trace::Job& job = log.jobs[at];
    if (!vcs.contains(std::string(log.names[job.request.vc]))) continue;
    courses.push_back({.since = job.request.submit,
                       .end = job.outcome.end,
                       .failed = has_failed(job.outcome.state)});
    numbers.push_back(at);
  }
  if (static_cast<std::int64_t>(courses.size()) < kFewest) {
    return fail(Code::unavailable,
                fmt::format("only {} past jobs of {} are known, at least {} are needed",
                            courses.size(), fmt::join(vcs, ", "), kFewest));
  }
  const auto made = schedule::make_policy(
      policy,
      schedule::PlayedHost{
          .estimator = service::taught_estimator(policy, log, lessons),
          .past_use = schedule::past_use_of(lessons, schedule::Admission(cluster, log.names)),
          .site = {}},
      {.age_cap = age_cap,
       .is_kept = [&](JobId job) { return past.kept.contains(log.jobs[index(job)].id); }});
  const policy::Quotas quotas = past.quotas.of(log.jobs);
  const sim::Schedule schedule = sim::simulate(log, cluster, *made,
                                               {.policy = policy.name,
                                                .restart = kNoRestartCost,
                                                .seed = seed,
                                                .quotas = quotas.empty() ? nullptr : &quotas,
                                                .watch = {.stop = stop}});
  for (std::size_t at = 0; at < courses.size(); ++at) {
    courses[at].start = schedule.jobs[numbers[at]].start;
  }
  // A job that asks more than nodes or quotas have today could not run at all.
  std::erase_if(courses, [](const Course& course) { return course.start == kNoTime; });
  if (courses.empty()) {
    return fail(Code::unavailable,
                fmt::format("no past job of {} could run on the cluster as it is today",
                            fmt::join(vcs, ", ")));
  }
  std::vector<double> waits;
  std::vector<double> failed;
  for (Time at = courses.front().since + settings.window; at <= last;
       at += settings.window / kSteps) {
    const Averages then = averages(courses, at, settings.window);
    if (then.waits >= kFewest) waits.push_back(then.wait_s);
    if (then.ended >= kFewest) failed.push_back(then.failed);
  }
  if (waits.empty() || failed.empty()) {
    return fail(Code::unavailable,
                fmt::format("{} never had {} jobs within {}", fmt::join(vcs, ", "), kFewest,
                            text::human_time(seconds(settings.window))));
  }
  const double share = stats::quantile(failed, kQuantile);
  return Band{.wait_s = stats::quantile(waits, kQuantile) * settings.slack + seconds(kLatency),
              .failed = std::max(share * settings.slack, share + kChance)};
}

std::string in_words(const service::CanaryView& seen) {
  if (!seen.most_wait_s || !seen.most_failed) return seen.rests;
  return fmt::format(
      "canary {}: mean wait {}, at most {} expected; {:.0f} % failed, at most {:.0f} % expected",
      fmt::join(seen.partitions, ", "), text::human_time(seen.wait_s),
      text::human_time(*seen.most_wait_s), 100 * seen.failed, 100 * *seen.most_failed);
}

Canary::Canary(CanarySettings settings, Duration age_cap, const store::Store& store,
               std::uint64_t seed)
    : settings_(std::move(settings)), age_cap_(age_cap), store_(store), seed_(seed) {}

Canary::~Canary() {
  stop_ = true;
  if (play_.valid()) play_.wait();
}

std::set<std::string> Canary::vcs(const World& world) const {
  std::set<std::string> made;
  for (const std::string& each : settings_.partitions) {
    const VcId vc = world.vc_of(each);
    if (vc != kNoVc) made.insert(world.cluster.vcs[index(vc)].name);
  }
  return made;
}

void Canary::note_ended(const std::vector<manager::Job>& ended, const World& world) {
  if (settings_.partitions.empty()) return;
  const std::set<std::string> own = vcs(world);
  for (const manager::Job& job : ended) {
    const VcId vc = world.vc_of(job.partition);
    const bool counts = vc != kNoVc && own.contains(world.cluster.vcs[index(vc)].name);
    if (counts && job.start != kNoTime) ended_.push_back(course_of(job));
  }
}

void Canary::begin_to_play(const Mirror& mirror, const Decision& decision,
                           const policy::Composition& policy) {
  played_ = mirror.at();
  policy_ = policy.name;
  world_ = decision.world;
  band_.reset();
  out_since_ = kNoTime;
  trouble_ = "the expected waits of the canary are being computed";
  play_ = std::async(std::launch::async,
                     [this, policy, own = vcs(*world_), world = world_, limits = mirror.limits()] {
                       auto past = past_of(store_, *world, limits);
                       if (!past) return Result<Band>(tl::unexpected(past.error()));
                       return expect(std::move(*past), own, world->cluster, policy, settings_,
                                     age_cap_, seed_, &stop_);
                     });
}

Averages Canary::present(const Mirror& mirror, const Decision& decision) const {
  const World& world = *decision.world;
  const std::set<std::string> own = vcs(world);
  std::vector<Course> courses(ended_.begin(), ended_.end());
  for (const auto& [number, job] : mirror.jobs()) {
    const VcId vc = world.vc_of(job.partition);
    if (vc == kNoVc || !own.contains(world.cluster.vcs[index(vc)].name)) continue;
    // A run before the present one is no wait; nor is it one to wait for what is no policy's.
    const bool counts = waits(job) ? !decision.aside.contains(number) : job.restarts == 0;
    if (counts) courses.push_back(course_of(job));
  }
  return averages(courses, mirror.at(), settings_.window);
}

Canary::Verdict Canary::look(const Mirror& mirror, const Decision& decision,
                             const policy::Composition& policy) {
  if (settings_.partitions.empty() || decision.world == nullptr) return {};
  while (!ended_.empty() && ended_.front().end < mirror.at() - settings_.window) {
    ended_.pop_front();
  }
  std::string rests = waits_for_band(mirror, decision, policy);
  const Averages now = present(mirror, decision);
  seen_ = {.partitions = {settings_.partitions.begin(), settings_.partitions.end()},
           .rests = rests,
           .waits = now.waits,
           .ended = now.ended,
           .window = settings_.window,
           .wait_s = now.wait_s,
           .failed = now.failed};
  if (!rests.empty()) return {std::move(rests), {}};
  seen_->most_wait_s = band_->wait_s;
  seen_->most_failed = band_->failed;
  const bool is_out = (now.waits >= kFewest && now.wait_s > band_->wait_s) ||
                      (now.ended >= kFewest && now.failed > band_->failed);
  if (!is_out) {
    out_since_ = kNoTime;
    return {};
  }
  if (out_since_ == kNoTime) out_since_ = mirror.at();
  if (mirror.at() - out_since_ < settings_.patience) return {};
  out_since_ = kNoTime;
  return {{}, in_words(*seen_)};
}

std::string Canary::waits_for_band(const Mirror& mirror, const Decision& decision,
                                   const policy::Composition& policy) {
  if (play_.valid()) {
    if (play_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return trouble_;
    const Result<Band> made = play_.get();
    if (made) {
      band_ = *made;
    } else {
      trouble_ = fmt::format("the canary has no baseline: {}", made.error().message);
    }
  }
  // Where too little was known there is more by and by.
  const bool plays_again = !band_ && played_ + settings_.window <= mirror.at();
  if (policy_ != policy.name || world_ != decision.world || plays_again) {
    begin_to_play(mirror, decision, policy);
  }
  return band_ ? "" : trouble_;
}

}  // namespace almanac::steer
