// SPDX-License-Identifier: Apache-2.0
#include "service/run_time_beliefs.h"

#include <fmt/format.h>

#include "predict/proven.h"
#include "service/log.h"
#include "service/policies.h"
#include "store/log.h"

namespace almanac::service {

namespace {

/// After so many jobs it starts again, and forgets the lessons that no estimator needs.
constexpr std::uint32_t kMostLessons = 20'000;

}  // namespace

void RunTimeBeliefs::catch_up(const policy::Composition& policy,
                              const std::vector<store::Job>& ended) {
  const bool is_other = !own_ || estimate_ != policy.estimate;
  if (is_other || num_lessons_ >= kMostLessons) {
    start_again(policy);  // also from those that have just ended
  } else {
    learn(ended);
  }
}

void RunTimeBeliefs::start_again(const policy::Composition& policy) {
  auto log = recall_();
  if (!log) log_warning(fmt::format("forecasts cannot use past jobs: {}", to_string(log.error())));
  // The estimators use the names, so they go first.
  likely_.reset();
  own_.reset();
  log_ = log ? std::move(*log) : trace::Trace{};
  estimate_ = policy.estimate;
  likely_ = std::make_unique<predict::Pooled>(log_.names, predict::Learned(log_.names));
  teach_ended(*likely_, log_.jobs);
  own_ = taught_estimator(policy, log_, log_.jobs);
  ended_of_.clear();
  for (const trace::Job& job : log_.jobs) {
    if (job.outcome.start != kNoTime) count_ended(job.request);
  }
  log_.jobs = {};
  num_lessons_ = 0;
  seen_.clear();
  beliefs_.clear();
}

void RunTimeBeliefs::learn(const std::vector<store::Job>& ended) {
  for (const store::Job& job : ended) {
    beliefs_.erase(job.number);
    // A job that came and ended between two looks is a lesson too.
    const Lesson lesson = lesson_of(job);
    seen_.erase(job.number);
    if (job.start == kNoTime) {
      likely_->forget(lesson.id);
      continue;
    }
    const predict::Ended end{.at = job.end, .ran = job.attained, .state = job.state};
    count_ended(lesson.request);
    likely_->learn(lesson.id, lesson.request, end);
    own_->learn(lesson.id, lesson.request, end);
  }
}

void RunTimeBeliefs::count_ended(const trace::Request& request) {
  ++ended_of_[{request.user, kNoName}];
  ++ended_of_[{request.user, request.name}];
}

const RunTimeBeliefs::Lesson& RunTimeBeliefs::lesson_of(const store::Job& job) {
  const auto [found, is_new] = seen_.try_emplace(job.number);
  if (is_new) {
    found->second = {.id = JobId{num_lessons_++},
                     .request = store::record_of(job, log_.names).request};
  }
  return found->second;
}

forecast::Belief RunTimeBeliefs::belief_of(const store::Job& job, const Lesson& lesson) {
  const predict::Pooled::Opinion said = likely_->ask(lesson.id, lesson.request);
  const Duration limit = job.asked->time_limit;
  forecast::Belief made{.likely = predict::belief_of(said.believed, limit),
                        .own = own_->estimate(lesson.id, lesson.request),
                        .guessed = said.guessed};
  if (limit != kNoDuration) made.most = limit;
  return made;
}

forecast::Belief& RunTimeBeliefs::of(const store::Job& job) {
  const auto found = beliefs_.find(job.number);
  if (found != beliefs_.end()) return found->second;
  return beliefs_.emplace(job.number, belief_of(job, lesson_of(job))).first->second;
}

forecast::Belief RunTimeBeliefs::of_newcomer(const store::Job& job) {
  trace::Request request = store::record_of(job, log_.names).request;
  const Lesson lesson{.id = JobId{num_lessons_++}, .request = std::move(request)};
  forecast::Belief made = belief_of(job, lesson);
  likely_->forget(lesson.id);
  return made;
}

bool RunTimeBeliefs::knows_end(const store::Job& job) {
  constexpr int kAlike = 1;  // of the same name
  constexpr int kOfUser = 20;
  if (job.asked->endless) return false;
  if (job.asked->time_limit != kNoDuration) return true;
  const auto ended = [&](NameId name) {
    const auto found = ended_of_.find({log_.names.intern(job.asked->user), name});
    return found == ended_of_.end() ? 0 : found->second;
  };
  return ended(log_.names.intern(job.asked->name)) >= kAlike || ended(kNoName) >= kOfUser;
}

}  // namespace almanac::service
