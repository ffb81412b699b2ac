// SPDX-License-Identifier: Apache-2.0

/// \file
/// Learns which of several models to use, from how wrong their answers were.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"

namespace almanac::deployment {

/// Selects one model per request: with nine tenths of the probability by weight, with one tenth
/// uniformly.
///
/// Source   Crankshaw et al., NSDI'17 (Clipper), section 5.1: Exp3 (Auer et al., 2002).
class Exp3 {
 public:
  /// `rate` is how fast weights follow losses, above 0; `even` the part of requests that tries all.
  explicit Exp3(std::size_t models, double rate = 0.1, double even = 0.1)
      : logs_(models), rate_(rate), even_(even) {}

  /// How likely each model is chosen; they sum to 1. O(models).
  std::vector<double> chances() const;
  std::size_t choose(Rng& rng) const;
  /// The chosen model's answer was so wrong, 0 to 1: its weight falls by exp(-rate loss / chance).
  void learn(std::size_t model, double loss);

 private:
  std::vector<double> logs_;  // of weights
  double rate_, even_;
};

/// All models answer, and count by weights.
///
/// Source   Crankshaw et al., NSDI'17 (Clipper), section 5.2: Exp4; members that are late are left
///          out, and confidence is the part of the weights that agree.
class Exp4 {
 public:
  explicit Exp4(std::size_t models, double rate = 0.1) : logs_(models), rate_(rate) {}

  static constexpr int kLate = -1;
  struct Answer {
    int label = kLate;      ///< kLate = no member answered in time.
    double confidence = 0;  ///< Part of all weights, those of late members too.
  };
  /// `labels` by model, kLate for a late one. Ties go to the lowest label.
  Answer combine(std::span<const int> labels) const;
  /// Each member in time that was wrong loses weight.
  void learn(std::span<const int> labels, int right);
  std::vector<double> weights() const;

 private:
  std::vector<double> logs_;
  double rate_;
};

}  // namespace almanac::deployment
