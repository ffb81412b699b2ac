// SPDX-License-Identifier: Apache-2.0
#include "slurm_replay/arrivals.h"

#include <algorithm>
#include <cmath>

#include "trace/read.h"
#include "trace/select.h"

namespace almanac::replay {
namespace {

/// Rounds up.
Duration whole_minutes(Duration time) {
  return std::max<Duration>(1min, std::chrono::ceil<std::chrono::minutes>(time));
}

}  // namespace

Result<trace::Trace> read_arrivals(const Window& window) {
  auto read = trace::read_trace(window.log);
  if (!read) return tl::unexpected(read.error());
  const auto kept =
      trace::keep_sample(*read, {.from = window.from, .to = window.to, .min_gpus = 1});
  if (!kept) return tl::unexpected(kept.error());

  const double factor = window.hour_s / 3600;
  const auto compress = [&](Duration time) {
    return Duration{std::llround(static_cast<double>(time.count()) * factor)};
  };
  const Time first = read->jobs.front().request.submit;
  for (trace::Job& job : read->jobs) {
    const Duration run = std::min(job.outcome.run, window.longest);
    const Duration limit = window.limit == Limit::exact ? run : compress(window.longest);
    trace::Request asked;
    asked.submit = Time{} + compress(job.request.submit - first);
    asked.time_limit = whole_minutes(limit);
    asked.name = job.request.name;
    asked.user = job.request.user;
    asked.gpus = job.request.gpus;
    job.request = asked;
    job.outcome = {};
    job.outcome.run = compress(run);
  }
  return read;
}

int limit_min(const trace::Request& request) {
  return static_cast<int>(whole_minutes(request.time_limit) / Duration(1min));
}

}  // namespace almanac::replay
