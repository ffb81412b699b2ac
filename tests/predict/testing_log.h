// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job log of known distributions, for tests and benches of predictors.
#pragma once

#include <fmt/format.h>

#include "base/rng.h"
#include "trace/trace.h"

namespace almanac::predict {

/// `jobs` jobs, 5 min apart, of 12 users with three names each. The run time of a name is lognormal
/// around a length of its own, 2 min to 4 h; one job in four fails within a minute, whatever it is.
inline trace::Trace testing_log(std::size_t jobs, std::uint64_t seed = 1) {
  trace::Trace made;
  Rng rng(seed);
  for (std::size_t at = 0; at < jobs; ++at) {
    const std::uint64_t user = rng.below(12);
    const std::uint64_t name = rng.below(3);
    trace::Job job;
    job.request.submit = Time{} + 300s * static_cast<std::int64_t>(at);
    job.request.user = made.names.intern(fmt::format("user{}", user));
    job.request.name = made.names.intern(fmt::format("u{}_experiment{}", user, name));
    job.request.gpus = 1 << rng.below(4);
    const bool fails = rng.uniform() < 0.25;
    const double center = std::log(120.0) + 0.25 * static_cast<double>(user + 4 * name);
    const double ran_s = fails ? 5 + 40 * rng.uniform() : std::exp(center + 0.5 * rng.normal());
    job.outcome.run = Duration{std::llround(1e3 * ran_s)};
    job.outcome.state = fails ? trace::JobState::failed : trace::JobState::completed;
    made.jobs.push_back(job);
  }
  return made;
}

}  // namespace almanac::predict
