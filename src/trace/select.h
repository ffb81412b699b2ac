// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes a part of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "trace/trace.h"

namespace almanac::trace {

/// Keeps the jobs at the positions of `order`, in that order; attempts follow their jobs.
void select_jobs(Trace& trace, std::span<const std::uint32_t> order);

/// What to keep; members without a value keep everything.
struct Sample {
  Time from = Time::min();  ///< Submitted at this time or later,
  Time to = kNever;         ///< and before this one.
  std::vector<std::string> vcs{};
  std::vector<std::string> users{};
  int min_gpus = 0;
  std::optional<double> fraction{};  ///< Random fraction of the jobs that the members above leave.
  std::optional<std::int64_t> count{};  ///< Random number of those jobs.
  std::uint64_t seed = 1;
};

/// Keeps a sample, in the order of the trace. Deterministic. A job whose predecessor (`after`) is
/// left out no longer waits for it. Fails with usage for a VC or a user that the trace does not
/// have, naming the nearest; with invalid when no job is left.
Result<void> keep_sample(Trace& trace, const Sample& sample);

}  // namespace almanac::trace
