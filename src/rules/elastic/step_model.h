// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long steps take, as a formula of seven numbers.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 3.2.
#pragma once

#include <array>
#include <cstddef>

namespace almanac::elastic {

/// Step times as a function of GPUs and batch. Times are in seconds.
struct StepModel {
  double compute = 0;             ///< Of a pass: this,
  double compute_per_sample = 0;  ///< and this for each sample of a GPU.
  double across = 0;              ///< Of an exchange between nodes: this,
  double across_per_gpu = 0;      ///< and this for each GPU beyond two.
  double within = 0;              ///< The same inside one node.
  double within_per_gpu = 0;
  double overlap = 1;  ///< 1 = the exchange follows the pass, large = both at once.

  static constexpr std::size_t kSize = 7;
  std::array<double, kSize> values() const {
    return {compute, compute_per_sample, across, across_per_gpu, within, within_per_gpu, overlap};
  }
  static StepModel of(const std::array<double, kSize>& v) {
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
  }
  bool operator==(const StepModel&) const = default;

  /// Seconds of a pass that is not followed by an exchange.
  double pass_s(double atomic_batch) const { return compute + compute_per_sample * atomic_batch; }
  /// Seconds of an exchange that nothing hides.
  double exchange_s(int nodes, int gpus) const;
  /// Seconds of a pass and its exchange.
  double step_s(int nodes, int gpus, double atomic_batch) const;
};

}  // namespace almanac::elastic
