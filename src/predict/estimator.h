// SPDX-License-Identifier: Apache-2.0

/// \file
/// Estimates how long a job will run, from what is known at its submission.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/ids.h"
#include "base/names.h"
#include "base/time.h"
#include "predict/distribution.h"
#include "predict/run_time.h"
#include "trace/job.h"

namespace almanac::predict {

struct StoredModel;

/// Estimate of the run time of one job, at the reference speed.
struct Belief {
  /// The prediction: at least one second, unless it is the true run time, its noisy copy, or the
  /// trace's prediction.
  Duration run{};
  /// Run time that a reservation assumes, at least `run`; kNoDuration for `run`.
  Duration bound = kNoDuration;
  /// Probability of each run time; null if the estimator predicts a single number. Shared, because
  /// policies that are made again and again take the beliefs of the one before.
  std::shared_ptr<const Distribution> distribution{};
};

/// Predicts each job once, at its submission, and learns from each once, at its end. All calls must
/// be in order of time.
class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual Belief estimate(JobId job, const trace::Request& request) = 0;
  /// Replaces estimate() for a job that is only learned from.
  virtual void watch(JobId job, const trace::Request& request) {
    static_cast<void>(job);
    static_cast<void>(request);
  }
  virtual void learn(JobId job, const trace::Request& request, const Ended& ended) {
    static_cast<void>(job);
    static_cast<void>(request);
    static_cast<void>(ended);
  }
  /// For callers that cannot wait for an answer: does due work that takes long now, and from now on
  /// in a thread of its own. The first call that finds it finished uses its result, so answers
  /// depend on the speed of the machine.
  virtual void answer_at_once(Time now) { static_cast<void>(now); }
};

/// Makes an estimator that knows true run times; only a simulation can have one. `jobs`, which may
/// grow, must outlive it.
std::unique_ptr<Estimator> make_oracle(const std::vector<trace::Job>& jobs);

/// Makes an estimator of true run times with errors of known size, drawn for each job separately.
/// Shows what a scheduler loses by wrong predictions. May be negative, as in the paper's file.
///
/// Source   Hu et al., SC'21, section 4.2.3: Philly's priorities with the error distribution of
///          Helios; the mixture is that of the artifact's philly_estimate.py.
/// Differs  The artifact sets no seed; here the same seed gives the same errors.
std::unique_ptr<Estimator> make_noisy(const std::vector<trace::Job>& jobs, std::uint64_t seed = 6);

/// Makes an estimator of true run times times exp(sigma Z), with Z normal and drawn for each job
/// separately. Same jobs and sigma, same estimates.
std::unique_ptr<Estimator> make_lognormal(const std::vector<trace::Job>& jobs, double sigma);

/// Makes the learned estimator (predict/learned.h): boosted trees and the nearest past jobs,
/// retrained as jobs end. Starts with the model `brought`, or without one. `names` must outlive it.
std::unique_ptr<Estimator> make_learned(const Names& names,
                                        std::shared_ptr<const StoredModel> brought = nullptr);

/// Makes the same estimator, but predicts the run time that 90 % of such jobs stay below. A job
/// that is backfilled with that much time delays the job that it passed in only one case of ten.
std::unique_ptr<Estimator> make_learned_90(const Names& names,
                                           std::shared_ptr<const StoredModel> brought = nullptr);

/// Makes an estimator that returns the trace's prediction (`predicted_s`). Every job must have one.
std::unique_ptr<Estimator> make_given();

/// Makes the paper's rolling estimate P_R: the mean run time, with weights that decay by `decay`
/// per job, of the user's jobs with the same name; else of the user's jobs with the same number of
/// GPUs; else of all jobs with that number; else of all jobs; else one hour.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1.
/// Differs  Only equal names match; the paper also uses similar ones. The decay constant is not
///          published.
/// Cost     one to four hash look-ups per job; memory grows with distinct (user, name) pairs
std::unique_ptr<Estimator> make_history(double decay = 0.8);

/// Makes the same estimate with all three cases of the paper: if none of the user's jobs has this
/// name, those with the user's most similar name count.
///
/// Differs  Similarity is that of SimilarNames, and counts one name, not several.
/// Cost     below 0.1 ms for a name that is new to its user; else as make_history(). `names` must
///          outlive the estimator.
std::unique_ptr<Estimator> make_rolling(const Names& names, double decay = 0.8);

/// Makes an estimator that returns the user's time limit, or the rolling estimate for a job without
/// one.
std::unique_ptr<Estimator> make_limit();

}  // namespace almanac::predict
