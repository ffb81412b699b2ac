// SPDX-License-Identifier: Apache-2.0

/// \file
/// Looks for what is possible in a trace and still odd. What is impossible, reading has refused.
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

/// Everything odd, in a fixed order; empty = nothing.
std::vector<Finding> find_oddities(const Trace& trace);

}  // namespace almanac::trace
