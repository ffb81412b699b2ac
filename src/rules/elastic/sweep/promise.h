// SPDX-License-Identifier: Apache-2.0

/// \file
/// How likely it is that a trial of a sweep gets where it is to, and which trials promise enough to
/// be given GPUs of their own.
///
/// Source   Rasley et al., Middleware'17 (HyperDrive, POP), section 3.
/// Differs  The paper draws curves from a mixture of eleven shapes; here the curve and how sure it
///          is are those of elastic/loss_curve.h.
#pragma once

#include <span>

#include "rules/elastic/loss_curve.h"

namespace almanac::elastic {

/// The probability that the metric of a trial, of which the larger is the better, is at least
/// `target` once it has made so many steps, not fewer than those of its last report. Losses are
/// metrics with the sign turned, in ascending order of steps, at least LossCurve::kLeastPoints.
/// The range of falls that the reports allow is taken for one standard deviation on either side.
double chance_of(std::span<const LossPoint> losses, double steps, double target);

/// From which chance on trials are promising: that p at which most slots are both asked for, one by
/// each trial of chance p or more, and deserved, p of all slots. The largest of those that do
/// equally well; 1 where there are no chances. O(n log n).
double promising_from(std::span<const double> chances, double slots);

}  // namespace almanac::elastic
