// SPDX-License-Identifier: Apache-2.0

/// \file
/// Believes how long a job will run, from what is known when it is submitted.
#pragma once

#include <memory>
#include <span>

#include "base/ids.h"
#include "base/time.h"
#include "trace/job.h"

namespace almanac::predict {

class Estimator {
 public:
  virtual ~Estimator() = default;
  /// The believed run time at the reference speed.
  virtual Duration estimate(JobId job, const trace::Request& request) = 0;
  /// Told when a job has ended, in order of time. `ran` is its run time without restart work.
  virtual void learn(const trace::Request& request, Duration ran) {
    static_cast<void>(request);
    static_cast<void>(ran);
  }
};

/// Knows the truth. Only a simulation can have one.
std::unique_ptr<Estimator> make_oracle(std::span<const trace::Job> jobs);

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

/// The user's time limit; where a job has none, the rolling estimate.
std::unique_ptr<Estimator> make_limit();

}  // namespace almanac::predict
