// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy a job keeps its GPUs with its current allocation, once that has settled.
///
/// A job loads programs and data before its GPUs compute, and a job with changed cores first
/// finishes work in progress. A measurement therefore counts only if all of it is some time after
/// the last change, and after the GPUs first computed. A value is reported once there are enough
/// measurements. It is the mean of the latest ones, so that it follows later changes.
///
/// Differs  CODA's abstract does not mention this; a simulation knows the use at once.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "perf/stretch.h"

namespace almanac::perf {

/// How measurements become the value that policies get.
struct Measuring {
  Duration every = 5s;      ///< How often is looked.
  Duration settling = 15s;  ///< After a change, how long nothing counts.
  Duration least = 30s;     ///< Measured time needed before a value is reported.
  Duration window = 60s;    ///< The mean covers this much of the latest time.
};

class SteadyUse {
 public:
  explicit SteadyUse(const Measuring& measuring = {}) : measuring_(measuring) {}

  /// Starts over for a job that begins, or is taken over without history.
  void start(Time now);
  /// Records that the allocation has changed.
  void change(Time now);
  /// Adds the fraction of time in which its GPUs computed; must be later than earlier measurements.
  void add(const Stretch& use);
  /// Returns 0 to 1; nothing if it is too early, or not measured.
  std::optional<double> mean() const;

 private:
  Measuring measuring_;
  Time changed_{};
  bool computes_ = false;
  std::vector<Stretch> counted_;  // a handful; of a job that waits no memory
};

}  // namespace almanac::perf
