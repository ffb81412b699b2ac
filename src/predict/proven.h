// SPDX-License-Identifier: Apache-2.0

/// \file
/// Uses the one of several predictors whose decisions were best on the jobs that ended
/// lately, so that a bad model is not used for long:
///
///   limit          the time limit times the ratio of run time to limit of all jobs
///   history        what earlier jobs like this one took (predict/past_runs.h)
///   steps          the job's training steps times the time per step of earlier jobs like it,
///                  for a job whose request states its steps
///                  (predict/step_times.h)
///   learned        a model that was trained before. None is trained here: tables of past runs
///                  order jobs as well as trees do, at a hundredth of the cost
///                  (docs/evidence/predict.md)
///   given          the prediction in the trace, if it may be used. It is a number, which replaces
///                  the distribution while it is believed. Any is believed until enough jobs have
///                  ended to judge it (predict/regret.h)
///
/// One distribution serves three uses:
///
///   order          the mean: least expected GPU time first
///   reservation    the user's limit, which nothing outlives; without a limit, the run time that
///                  nine in ten such jobs stay below, or the number
///   preemption     the distribution, from which the Gittins index of what is left follows
///
/// Each prediction is cut at the limit of the job: whatever would run longer ends there.
///
/// Source   Rothkopf, Management Science 1966 (least expected processing time first); Mu'alem &
///          Feitelson, TPDS 2001 (reservations by limits).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

#include "predict/learned.h"
#include "predict/past_runs.h"
#include "predict/regret.h"
#include "predict/step_times.h"

namespace almanac::predict {

class Proven final : public Estimator {
 public:
  /// `names` must outlive it; `brought` is null where no model was trained before. If it
  /// `uses_given`, predictor `given` speaks of each job with a prediction in the trace.
  explicit Proven(const Names& names, std::shared_ptr<const StoredModel> brought = nullptr,
                  bool uses_given = false);

  /// What the predictors say of one job.
  struct Opinions {
    /// Cut at the limit; nothing = the predictor does not know this job. Nothing for `given`.
    std::array<std::optional<Distribution>, kPredictors> said{};
    std::array<double, kPredictors> means_s{};  ///< Of those that are said.
    Predictor believed{};
  };
  /// About 10 us; 30 us with a model.
  Opinions ask(JobId job, const trace::Request& request);
  const Regret& regret() const { return regret_; }

  Belief estimate(JobId job, const trace::Request& request) override;
  void watch(JobId job, const trace::Request& request) override;
  void learn(JobId job, const trace::Request& request, const Ended& ended) override;

 private:
  struct Waiting {
    PastRuns::Seen seen{};
    StepTimes::Seen step{};
    std::array<float, kPredictors> expected_s{};
  };

  Kinds kinds_;
  PastRuns past_;
  StepTimes steps_;
  std::optional<Learned> learned_;
  bool uses_given_;
  Regret regret_;
  std::unordered_map<std::uint32_t, Waiting> underway_;  // by JobId
};

/// The run time that `said` lets a scheduler expect, and what it reserves for a job with this
/// limit (kNoDuration = none).
Belief belief_of(const Distribution& said, Duration time_limit);

/// As the constructor of Proven.
std::unique_ptr<Estimator> make_proven(const Names& names,
                                       std::shared_ptr<const StoredModel> brought = nullptr);
/// Makes one that uses the predictions in the trace, too. `names` must outlive it.
std::unique_ptr<Estimator> make_proven_given(const Names& names);

}  // namespace almanac::predict
