// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asks several predictors and believes the one whose decisions were best on the jobs that ended
/// lately, so that a bad model is not believed for long. One distribution answers each question in
/// its own way:
///
///   order          the mean: least expected GPU time first
///   reservation    the user's limit, which nothing outlives; without a limit, the run time that
///                  nine in ten such jobs stay below
///   preemption     the distribution, from which the Gittins index of what is left follows
///
/// Each distribution is cut at the limit of the job: whatever would run longer ends there.
///
/// Source   Rothkopf, Management Science 1966 (least expected processing time first); Mu'alem &
///          Feitelson, TPDS 2001 (reservations by limits).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "predict/learned.h"
#include "predict/limit_use.h"
#include "predict/past_runs.h"
#include "predict/regret.h"

namespace almanac::predict {

class Proven final : public Estimator {
 public:
  explicit Proven(Learned learned) : learned_(std::move(learned)) {}

  /// What the predictors say of one job.
  struct Opinions {
    /// Cut at the limit; nothing = the predictor does not speak of this job.
    std::array<std::optional<Distribution>, kPredictors> said{};
    Predictor believed{};
    Prediction learned{};  ///< Not cut; a guess before there is a model.
  };
  /// About 20 us; a new model every so often takes longer (Learned).
  Opinions ask(JobId job, const trace::Request& request);
  const Regret& regret() const { return regret_; }
  Learned& learned() { return learned_; }

  Belief estimate(JobId job, const trace::Request& request) override;
  /// No model is made for it, so that the learned model does not speak of it.
  void watch(JobId job, const trace::Request& request) override;
  void learn(JobId job, const trace::Request& request, const Ended& ended) override;
  void answer_at_once(Time now) override { learned_.answer_at_once(now); }

 private:
  /// Expected run times, in seconds.
  using Expected = std::array<float, kPredictors>;
  /// What limit and history say.
  Opinions look_back(const trace::Request& request);
  void remember(JobId job, const Opinions& opinions);

  Learned learned_;
  LimitUse limits_;
  PastRuns past_;
  Regret regret_;
  std::unordered_map<std::uint32_t, Expected> underway_;  // by JobId
};

/// The run time that `said` lets a scheduler expect, and what it reserves for a job with this
/// limit (kNoDuration = none).
Belief belief_of(const Distribution& said, Duration time_limit);

/// `names` must outlive it.
std::unique_ptr<Estimator> make_proven(const Names& names,
                                       std::shared_ptr<const StoredModel> brought = nullptr);

}  // namespace almanac::predict
