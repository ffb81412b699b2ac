// SPDX-License-Identifier: Apache-2.0

/// \file
/// The probability that a trial of a sweep reaches a target, and the trials that are promising
/// enough for GPUs of their own.
///
/// Source   Rasley et al., Middleware'17 (HyperDrive, POP), section 3.
/// Differs  The paper draws curves from a mixture of eleven shapes; here the curve and its
///          uncertainty come from elastic/loss_curve.h.
#pragma once

#include <span>

#include "rules/elastic/loss_curve.h"

namespace almanac::elastic {

/// Returns the probability that the metric of a trial, where larger is better, is at least `target`
/// after `steps` steps, at least those of its last report. Losses are metrics with the sign
/// changed, in ascending order of steps, at least LossCurve::kLeastPoints. The range of falls that
/// the reports allow counts as one standard deviation on either side.
double chance_of(std::span<const LossPoint> losses, double steps, double target);

/// Returns the chance from which on trials are promising: the p that maximizes the slots that are
/// both requested, one by each trial with a chance of at least p, and deserved, a fraction p of all
/// slots. The largest such p; 1 without chances. O(n log n).
double promising_from(std::span<const double> chances, double slots);

}  // namespace almanac::elastic
