// SPDX-License-Identifier: Apache-2.0

/// \file
/// Believes how long a job will run, from what is known when it is submitted.
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

/// What is believed of the run time of one job, at the reference speed.
struct Belief {
  /// The number to go by: at least one second, but where it is the truth, or its noisy copy, or the
  /// trace's own.
  Duration run{};
  /// Run time that a reservation counts with, `run` or more; kNoDuration = `run`.
  Duration bound = kNoDuration;
  /// How likely each length is; null = the estimator knows one number only.
  std::unique_ptr<const Distribution> distribution{};
};

/// Is asked about each job once, at its submission, and told of each once, at its end; all in order
/// of time.
class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual Belief estimate(JobId job, const trace::Request& request) = 0;
  /// Instead of estimate(): one that is only to be learned from.
  virtual void watch(JobId job, const trace::Request& request) {
    static_cast<void>(job);
    static_cast<void>(request);
  }
  virtual void learn(JobId job, const trace::Request& request, const Ended& ended) {
    static_cast<void>(job);
    static_cast<void>(request);
    static_cast<void>(ended);
  }
  /// For a caller that cannot wait for an answer: what is due and takes long is done now, and from
  /// now on in a thread of its own. What comes of it is believed from the first question on that
  /// finds it done, so answers hang on how fast the machine is.
  virtual void answer_at_once(Time now) { static_cast<void>(now); }
};

/// Knows the truth. Only a simulation can have one. `jobs`, which may grow, must outlive it.
std::unique_ptr<Estimator> make_oracle(const std::vector<trace::Job>& jobs);

/// The truth with errors of known sizes, each job's drawn by itself: for what a scheduler loses by
/// wrong predictions. May be negative, as in the paper's file.
///
/// Source   Hu et al., SC'21, section 4.2.3: Philly's priorities with the error distribution of
///          Helios; the mixture is that of the artifact's philly_estimate.py.
/// Differs  The artifact seeds nothing; the same seed gives the same errors here.
std::unique_ptr<Estimator> make_noisy(const std::vector<trace::Job>& jobs, std::uint64_t seed = 6);

/// Boosted trees and the closest earlier jobs (predict/learned.h), learned anew as jobs end; begins
/// with the model `brought`, or with none. `names` must outlive it.
std::unique_ptr<Estimator> make_learned(const Names& names,
                                        std::shared_ptr<const StoredModel> brought = nullptr);

/// The same, and the number to go by is the run time that nine in ten such jobs stay below: a
/// backfilled job that is given so much time delays the job that it passed in one case of ten only.
std::unique_ptr<Estimator> make_learned_90(const Names& names,
                                           std::shared_ptr<const StoredModel> brought = nullptr);

/// Takes the prediction that came with the trace (`predicted_s`). Every job must have one.
std::unique_ptr<Estimator> make_given();

/// The paper's rolling estimate P_R: the mean run time, decaying by `decay` a job, of the user's
/// jobs of the same name; else of the user's jobs of the same GPU demand; else of all jobs of that
/// demand; else of all jobs; else one hour.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1.
/// Differs  Names match when they are equal; the paper also takes similar ones. The decay constant
///          is not published.
/// Cost     One to four hash look-ups a job; memory grows with distinct (user, name) pairs.
std::unique_ptr<Estimator> make_history(double decay = 0.8);

/// The same with the paper's three cases whole: where none of the user's jobs has this name, those
/// of the user's most similar name count.
///
/// Differs  From the paper in that similar means SimilarNames, and one name, not several.
/// Cost     Below 0.1 ms for a name that is new to its user; else as make_history(). `names` must
///          outlive it.
std::unique_ptr<Estimator> make_rolling(const Names& names, double decay = 0.8);

/// The user's time limit; where a job has none, the rolling estimate.
std::unique_ptr<Estimator> make_limit();

}  // namespace almanac::predict
