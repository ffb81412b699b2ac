// SPDX-License-Identifier: Apache-2.0
#include "live/foresight.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/policies.h"
#include "store/log.h"

namespace almanac::live {

using store::JobNumber;

namespace {

/// That every stretch is said with.
constexpr double kSaid = 0.9;
/// How often it looks whether something has changed.
constexpr std::chrono::milliseconds kGlance{50};
constexpr int kRestPerWork = 4;

}  // namespace

Foresight::Foresight(const cluster::Cluster& cluster, trace::Trace log, int futures,
                     std::uint64_t seed, Look look, Revision revision, Tell tell)
    : cluster_(cluster),
      lessons_(std::move(log)),
      futures_(futures),
      seed_(seed),
      look_(std::move(look)),
      revision_(std::move(revision)),
      tell_(std::move(tell)),
      thread_([this] { work(); }) {}

Foresight::~Foresight() {
  stop_ = true;
  news_.notify_all();
  thread_.join();
}

std::optional<Expected> Foresight::of(JobNumber number) const {
  const std::lock_guard lock(mutex_);
  const auto found = expected_.find(number);
  if (found == expected_.end()) return std::nullopt;
  return found->second;
}

std::optional<Expected> Foresight::wait_for(JobNumber number, Duration patience) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [&] { return expected_.contains(number) || stop_; });
  const auto found = expected_.find(number);
  if (found == expected_.end()) return std::nullopt;
  return found->second;
}

void Foresight::work() {
  // Whoever decides, and the jobs, go first.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10);
  likely_ = taught_estimator({.estimate = "learned"}, lessons_, lessons_.jobs);
  std::uint64_t seen = 0;
  auto next = std::chrono::steady_clock::now();
  while (!stop_) {
    {
      std::unique_lock lock(mutex_);
      news_.wait_for(lock, kGlance, [&] { return stop_.load(); });
    }
    const auto begun = std::chrono::steady_clock::now();
    if (stop_ || begun < next || revision_() == seen) continue;
    Outlook outlook = look_();
    const std::uint64_t revision = outlook.revision;
    if (foresee(std::move(outlook))) seen = revision;
    const auto ended = std::chrono::steady_clock::now();
    next = ended + kRestPerWork * (ended - begun);
  }
}

void Foresight::learn(const std::vector<store::Job>& ended) {
  for (const store::Job& job : ended) {
    beliefs_.erase(job.number);
    // One that came and ended between two looks is a lesson too.
    const auto [known, is_new] =
        seen_.try_emplace(job.number, JobId{static_cast<std::uint32_t>(lessons_.jobs.size())});
    const JobId id = known->second;
    if (is_new) lessons_.jobs.emplace_back();
    lessons_.jobs[index(id)] = store::record_of(job, lessons_.names);
    const trace::Job& lesson = lessons_.jobs[index(id)];
    seen_.erase(known);
    if (job.start == kNoTime) continue;
    const predict::Ended end{.at = job.end, .ran = job.attained, .state = job.state};
    likely_->learn(id, lesson.request, end);
    if (own_) own_->learn(id, lesson.request, end);
  }
}

forecast::Belief& Foresight::belief_of(const store::Job& job) {
  const auto found = beliefs_.find(job.number);
  if (found != beliefs_.end()) return found->second;
  const auto [seen, is_new] =
      seen_.try_emplace(job.number, JobId{static_cast<std::uint32_t>(lessons_.jobs.size())});
  if (is_new) lessons_.jobs.push_back(store::record_of(job, lessons_.names));
  const trace::Request request = lessons_.jobs[index(seen->second)].request;
  forecast::Belief made{.likely = likely_->estimate(seen->second, request),
                        .policys_own = own_->estimate(seen->second, request).run};
  if (job.asked.time_limit != kNoDuration) made.most = job.asked.time_limit;
  return beliefs_.emplace(job.number, std::move(made)).first->second;
}

bool Foresight::foresee(Outlook outlook) {
  learn(outlook.ended);
  if (!own_ || estimate_ != outlook.composition.estimate) {
    estimate_ = outlook.composition.estimate;
    own_ = taught_estimator(outlook.composition, lessons_, lessons_.jobs);
    beliefs_.clear();
  }
  trace::Trace trace;
  sim::Present present{.at = outlook.at, .running = {}, .waiting = {}, .drained = outlook.drained};
  forecast::Beliefs beliefs;
  for (const Outlook::One& one : outlook.jobs) {
    const JobId id{static_cast<std::uint32_t>(trace.jobs.size())};
    beliefs.emplace(id, std::move(belief_of(one.job)));
    trace.jobs.push_back(store::record_of(one.job, trace.names));
    const Duration ran = one.past.attained + (one.runs ? outlook.at - one.past.since : Duration{0});
    (one.runs ? present.running : present.waiting)
        .push_back({.job = id,
                    .past = one.past,
                    .worked = ran,
                    .held = one.runs ? one.job.held_gpus : std::vector<cluster::Grant>{}});
  }
  const forecast::Setting setting{.trace = trace,
                                  .cluster = cluster_,
                                  .composition = outlook.composition,
                                  .options = {.seed = seed_, .stop = &stop_}};
  const auto made = present.waiting.empty()
                        ? std::vector<forecast::Forecast>{}
                        : forecast::play_queue(setting, present, beliefs, futures_, seed_);
  for (std::size_t at = 0; at < outlook.jobs.size(); ++at) {
    beliefs_.at(outlook.jobs[at].job.number) =
        std::move(beliefs.at(JobId{static_cast<std::uint32_t>(at)}));
  }
  if (made.size() < present.waiting.size()) return false;

  std::map<JobNumber, Expected> expected;
  std::vector<store::Told> first;
  for (std::size_t at = 0; at < made.size(); ++at) {
    const store::Job& job = outlook.jobs[index(present.waiting[at].job)].job;
    const auto start = made[at].start(kSaid);
    const auto end = made[at].end(kSaid);
    Expected one{.at = outlook.at,
                 .start_from = start.from,
                 .start_to = start.to,
                 .start_by = made[at].started_by(kSaid),
                 .end_from = end.from,
                 .end_to = end.to,
                 .end_by = made[at].ended_by(kSaid)};
    if (job.asked.deadline != kNoTime) one.kept = made[at].chance_to_end_by(job.asked.deadline);
    expected.emplace(job.number, one);
    first.push_back({.at = one.at,
                     .job = job.number,
                     .policy = outlook.composition.name,
                     .start_from = one.start_from,
                     .start_to = one.start_to,
                     .end_from = one.end_from,
                     .end_to = one.end_to,
                     .share = kSaid,
                     .kept = one.kept});
  }
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(first, [&](const store::Told& told) { return expected_.contains(told.job); });
    expected_ = std::move(expected);
  }
  news_.notify_all();
  if (!first.empty()) tell_(std::move(first));
  return true;
}

}  // namespace almanac::live
