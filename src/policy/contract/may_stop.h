// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs a policy may stop and start again later.
#pragma once

#include <cmath>
#include <cstdint>

#include "trace/job.h"

namespace almanac::policy {

/// Which jobs an operator lets a policy stop. A job submitted with --no-requeue is none of them.
enum class Stops : std::uint8_t {
  none,
  marked,  ///< Jobs submitted with --requeue, and those with a known checkpoint interval.
  all,
};

/// Returns whether a policy may stop the running job of `request`.
inline bool may_stop(const trace::Request& request, Stops stops) {
  if (stops == Stops::none || request.requeue == trace::Requeue::no) return false;
  return stops == Stops::all || request.requeue == trace::Requeue::yes ||
         !std::isnan(request.checkpoint_s);
}

}  // namespace almanac::policy
