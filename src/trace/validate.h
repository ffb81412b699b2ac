// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds possible but odd facts in a trace. Readers refuse impossible ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace almanac::trace {

/// Something odd, how many jobs have it, and the id of the first.
struct Finding {
  std::string what;
  std::int64_t jobs = 0;
  std::string first_job;
};

/// Returns all oddities in a fixed order.
std::vector<Finding> find_oddities(const Trace& trace);

}  // namespace almanac::trace
