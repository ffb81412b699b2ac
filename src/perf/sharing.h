// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs that share a GPU slow each other.
///
///   speed with neighbors = 1 / (1 + suffers * sum of what the neighbors cause)
///
/// Both are powers of the batch of a GPU. Two that each suffer and cause 1 run at 1/2: a fair share
/// of a full GPU. More than two on a GPU add up, which is assumed: only pairs are published.
///
/// Source   the form is ours, chosen on Gavel's pairs (Narayanan et al., OSDI'20), and has four
///          numbers a model and type of GPU. What does not fit on the GPU together is not told.
/// Range    26 jobs of 7 models on one K80, P100 or V100. Errors: docs/guide/perf.md.
#pragma once

namespace almanac::perf {

struct Sharing {
  double suffers = 1;  ///< At a batch of 1.
  double suffers_power = 0;
  double causes = 1;
  double causes_power = 0;

  double suffers_at(double batch) const;
  double causes_at(double batch) const;
};

/// Sharing of a model without measured pairs: models with long steps suffer less and cause more,
/// because the GPU is assigned one kernel at a time.
struct SharingByStep {
  double suffers = 1;  ///< At a step of a second.
  double suffers_power = 0;
  double causes = 1;
  double causes_power = 0;

  /// For a model with this step time; the powers of the batch are 0.
  Sharing of(double step_s) const;
};

inline double shared_speed(double suffers, double causes) { return 1 / (1 + suffers * causes); }

}  // namespace almanac::perf
