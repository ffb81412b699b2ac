// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy a job keeps its GPUs with what it holds now, once that has settled.
///
/// A job loads programs and data before its GPUs compute, and one that is given other cores goes on
/// as before for a moment: what it then had in hand. So a stretch of time counts only if all of it
/// lies a while after the last change, and after its GPUs were first seen to compute; and something
/// is told once enough of them have come. Then it is the mean over the latest, so that what happens
/// later is seen.
///
/// Differs  CODA's abstract says nothing of this; a simulation knows the use at once.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "perf/stretch.h"

namespace almanac::perf {

/// How measurements become what a policy is told.
struct Measuring {
  Duration every = 5s;      ///< How often is looked.
  Duration settling = 15s;  ///< After a change, how long nothing counts.
  Duration least = 30s;     ///< So much has to be measured before anything is told.
  Duration window = 60s;    ///< Of the latest so much is the mean.
};

class SteadyUse {
 public:
  explicit SteadyUse(const Measuring& measuring = {}) : measuring_(measuring) {}

  /// The job begins, or is taken over, of which nothing is known.
  void start(Time now);
  /// It holds something else from now on.
  void change(Time now);
  /// The share of the time in which its GPUs computed; later than what was told before.
  void add(const Stretch& use);
  /// 0 to 1; nothing = too early to tell, or it is not told.
  std::optional<double> mean() const;

 private:
  Measuring measuring_;
  Time changed_{};
  bool computes_ = false;
  std::vector<Stretch> counted_;  // a handful; of a job that waits no memory
};

}  // namespace almanac::perf
