// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job loses to checkpoints and failures, by the work between two checkpoints.
///
/// Times are in one unit of the caller's choice. A checkpoint stops the job for `write`. Failures
/// come as a Poisson process with mean interval `mttf`, and may also hit restarts.
///
/// Source   Young, CACM 1974; Daly, FGCS 2006, Eq 13 (exact), 20 and 37 (intervals); Kokolis et
/// al.,
///          HPCA'25, section II-D (effective training time ratio).
#pragma once

namespace almanac::faults {

/// Returns sqrt(2 write mttf).
double young_interval(double write, double mttf);

/// Returns Daly's interval of higher order, within 0.6 % of the best one where write < mttf / 2.
double daly_interval(double write, double mttf);

/// Returns the interval with the least wall time, to a relative error of 1e-9.
double best_interval(double write, double mttf);

/// Returns wall time / useful time of an endless job, exactly.
double slowdown(double every, double write, double restart, double mttf);

/// Returns the lost fraction of the wall time to first order, for every << mttf.
double first_order_loss(double every, double write, double restart, double mttf);

}  // namespace almanac::faults
