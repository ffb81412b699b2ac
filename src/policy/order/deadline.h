// SPDX-License-Identifier: Apache-2.0

/// \file
/// A deadline as a rank.
#pragma once

#include <limits>

#include "policy/slots.h"
#include "trace/job.h"

namespace almanac::policy::order {

/// Returns the deadline in ms. A deadline at or before submission ranks before all others, and a
/// job without one ranks last. Source: the urgent tasks of Chen et al., TPDS'20 (GENIE), section
/// 5.3, are always late and always first.
inline double deadline_rank(const trace::Request& request) {
  constexpr double kEver = std::numeric_limits<double>::infinity();
  if (request.deadline == kNoTime) return kEver;
  if (request.deadline <= request.submit) return -kEver;
  return static_cast<double>(request.deadline.time_since_epoch().count());
}

/// Returns the standing of a job without a deadline that it can meet. Jobs that have one go before
/// it.
inline Standing no_deadline() { return {Term::deadline, std::numeric_limits<double>::infinity()}; }

}  // namespace almanac::policy::order
