// SPDX-License-Identifier: Apache-2.0

/// \file
/// Draws deadlines: a class and the time by which a job should end.
///
///   urgent   deadline = submission: always late, always first
///   prior    submission + as long as it runs on one GPU
///   normal   submission + twice as long
///
/// Source   GENIE (Chen et al., TPDS'20) 5.3, Eq 9; shares 5, 35, 60 % (7.1).
/// Differs  The paper sets the deadline of urgent tasks to 0. Here it is their submission, which
///          orders them among themselves and is missed just as surely.
#pragma once

#include "base/names.h"
#include "base/rng.h"
#include "base/time.h"
#include "stats/alias.h"
#include "trace/job.h"

namespace almanac::trace {

/// Weights of the classes; all 0 for no deadlines.
struct DeadlineMix {
  double urgent = 0;
  double prior = 0;
  double normal = 0;

  bool any() const { return urgent + prior + normal > 0; }
};

inline constexpr DeadlineMix kGenieMix{.urgent = 5, .prior = 35, .normal = 60};

class DeadlineLottery {
 public:
  /// Requires: a class has a weight.
  DeadlineLottery(const DeadlineMix& mix, Names& names);

  /// Sets class and deadline of a job that runs `alone` long on one GPU.
  void draw(Duration alone, Rng& rng, Request& request) const;

 private:
  stats::Alias classes_;
  NameId names_[3];
};

}  // namespace almanac::trace
