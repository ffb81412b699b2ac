// SPDX-License-Identifier: Apache-2.0

/// \file
/// What forecasts believe about run times. A forecast names a probability, so its distribution
/// must be calibrated for each class of job, also for a job unlike all jobs that have ended.
///
/// Three voices are mixed:
///
///   guess          anything: each magnitude below the time limit is equally likely, and one job in
///                  ten runs to its limit
///   history        what earlier jobs like this one took (predict/past_runs.h)
///   learned        a trained model (predict/learned.h)
///
/// Their weights are learned for each class of job, from how likely each voice had called the run
/// times of jobs that ended. A class is the number of the user's jobs that have ended, and what is
/// new about the job: nothing, its name, or that the user requests far more time than before. At
/// first the guess counts for half. The learned voice keeps its share while it has no model.
///
/// Source   Stone, Annals of Mathematical Statistics 1961 (the opinion pool); Jelinek & Mercer,
///          Pattern Recognition in Practice 1980 (weights by expectation maximization).
/// Cost     that of Learned, and about 20 us for each submission and each end
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "predict/kinds.h"
#include "predict/learned.h"
#include "predict/past_runs.h"

namespace almanac::predict {

class Pooled final : public Estimator {
 public:
  /// `names`, those of `learned`, must outlive it.
  Pooled(const Names& names, Learned learned);

  struct Opinion {
    Distribution believed{};  ///< Cut at the time limit; sums to one.
    double guessed = 0;       ///< Weight of the guess, 0 .. 1.
    double by_model = 0;      ///< Weight of the learned voice, 0 .. 1.
    Prediction learned{};     ///< What that voice alone says, not cut.
  };
  /// Predicts a job that is submitted now. Trains a model if one is due, as Learned::foresee().
  Opinion ask(JobId job, const trace::Request& request);

  const Learned& learned() const { return learned_; }

  Belief estimate(JobId job, const trace::Request& request) override;
  void watch(JobId job, const trace::Request& request) override;
  void learn(JobId job, const trace::Request& request, const Ended& ended) override;
  /// Drops a job that will not be learned from: one that never started, or a what-if.
  void forget(JobId job);

 private:
  static constexpr std::size_t kVoices = 3;
  enum class Novelty : std::uint8_t { none, name, more_time };
  static constexpr std::size_t kNovelties = 3;
  static constexpr std::size_t kSizes = 4;

  /// Of guess, history and learned, in this order. Their ratios count.
  using Weights = std::array<double, kVoices>;
  /// The ended jobs of a user.
  struct Past {
    int jobs = 0;
    Duration longest_limit{};  ///< Duration::max() if one had none.
  };
  struct Waiting {
    PastRuns::Seen seen{};
    std::size_t of_class = 0;
  };

  std::size_t class_of(const trace::Request& request);
  Weights& weights_of(std::size_t of_class);
  const Waiting& remember(JobId job, const trace::Request& request);
  /// What each voice says of a job, cut at the time limit.
  std::array<Distribution, kVoices> voices(const PastRuns::Seen& seen,
                                           const Prediction& learned) const;
  void weigh(Weights& weights, const std::array<Distribution, kVoices>& said,
             std::size_t cell) const;

  Kinds kinds_;
  PastRuns past_;
  Learned learned_;
  std::unordered_map<std::uint64_t, Past> users_;        // by the key of Kind::user
  std::unordered_set<std::uint64_t> names_;              // keys of Kind::user_name of ended jobs
  std::array<Weights, kNovelties * kSizes> weights_{};   // zero if no job is known
  std::unordered_map<std::uint32_t, Waiting> underway_;  // by JobId
};

}  // namespace almanac::predict
