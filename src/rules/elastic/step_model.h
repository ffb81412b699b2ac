// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times as a formula with seven parameters.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 3.2.
#pragma once

#include <array>
#include <cstddef>

namespace almanac::elastic {

/// Step times as a function of GPUs and batch, in seconds.
struct StepModel {
  double compute = 0;             ///< Fixed part of a pass.
  double compute_per_sample = 0;  ///< Added for each sample per GPU.
  double across = 0;              ///< Fixed part of an exchange between nodes.
  double across_per_gpu = 0;      ///< Added for each GPU beyond two.
  double within = 0;              ///< The same within one node.
  double within_per_gpu = 0;
  double overlap = 1;  ///< 1 = exchange after the pass; large = both at the same time.

  static constexpr std::size_t kSize = 7;
  std::array<double, kSize> values() const {
    return {compute, compute_per_sample, across, across_per_gpu, within, within_per_gpu, overlap};
  }
  static StepModel of(const std::array<double, kSize>& v) {
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
  }
  bool operator==(const StepModel&) const = default;

  /// Returns the seconds of a pass without an exchange.
  double pass_s(double atomic_batch) const { return compute + compute_per_sample * atomic_batch; }
  /// Returns the seconds of an exchange that overlaps with nothing.
  double exchange_s(int nodes, int gpus) const;
  /// Returns the seconds of a pass and its exchange.
  double step_s(int nodes, int gpus, double atomic_batch) const;
};

}  // namespace almanac::elastic
