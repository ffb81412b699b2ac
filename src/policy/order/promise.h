// SPDX-License-Identifier: Apache-2.0

/// \file
/// Separates jobs whose deadlines can be met from the others in the order `promise`.
#pragma once

namespace almanac::policy::order {

/// Smallest rank of a job that is late or has no deadline; larger than any job's GPU milliseconds.
inline constexpr double kLate = 1e15;

}  // namespace almanac::policy::order
