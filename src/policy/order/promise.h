// SPDX-License-Identifier: Apache-2.0

/// \file
/// Where the order `promise` parts those whose deadlines can be met from the others.
#pragma once

namespace almanac::policy::order {

/// The least rank of a job that is late or has no deadline; above all GPU milliseconds of one job.
inline constexpr double kLate = 1e15;

}  // namespace almanac::policy::order
