// SPDX-License-Identifier: Apache-2.0

/// \file
/// What forecasts believe about run times. They learn from every job that ends
/// (predict/pooled.h), whatever the policy itself believes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "forecast/futures.h"
#include "policy/composition.h"
#include "predict/estimator.h"
#include "predict/pooled.h"
#include "store/job.h"
#include "trace/trace.h"

namespace almanac::service {

/// Not thread-safe.
class RunTimeBeliefs {
 public:
  /// The ended jobs that are worth learning from.
  using Recall = std::function<Result<trace::Trace>()>;

  explicit RunTimeBeliefs(Recall recall) : recall_(std::move(recall)) {}

  /// Learns from the jobs that have just ended. Starts again with the jobs of `Recall` if the
  /// policy estimates run times in another way than before, or after very many jobs.
  void catch_up(const policy::Composition& policy, const std::vector<store::Job>& ended);
  /// The belief about a job that waits or runs, which may be moved out and assigned back.
  forecast::Belief& of(const store::Job& job);
  /// The belief about a job that has not been submitted.
  forecast::Belief of_newcomer(const store::Job& job);
  /// Whether anything says when a job ends: its time limit, or ended jobs of its user. Otherwise
  /// its belief comes from unrelated jobs.
  bool knows_end(const store::Job& job);

 private:
  /// A job as the estimators were asked about it.
  struct Lesson {
    JobId id{};
    trace::Request request{};
  };

  void start_again(const policy::Composition& policy);
  void learn(const std::vector<store::Job>& ended);
  const Lesson& lesson_of(const store::Job& job);
  forecast::Belief belief_of(const store::Job& job, const Lesson& lesson);
  void count_ended(const trace::Request& request);

  Recall recall_;
  trace::Trace log_;  // gives the estimators their names; its jobs are dropped
  std::map<store::JobNumber, Lesson> seen_;
  std::uint32_t num_lessons_ = 0;  // since it started again
  /// Ended jobs by user and job name; with kNoName, of the user in all.
  std::map<std::pair<NameId, NameId>, int> ended_of_;
  std::unique_ptr<predict::Pooled> likely_;
  std::unique_ptr<predict::Estimator> own_;  // the policy's
  policy::Choice estimate_;                  // of own_
  std::map<store::JobNumber, forecast::Belief> beliefs_;
};

}  // namespace almanac::service
