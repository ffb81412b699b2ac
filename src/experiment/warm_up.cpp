// SPDX-License-Identifier: Apache-2.0
#include "experiment/warm_up.h"

#include <fmt/format.h>

#include "text/duration.h"

namespace almanac::experiment {

Result<void> check_warm_up(Duration warm_up, const trace::Trace& trace) {
  const auto& jobs = trace.jobs;
  if (jobs.empty()) return {};
  const Duration span = jobs.back().request.submit - jobs.front().request.submit;
  if (warm_up <= span) return {};
  return fail(Code::usage,
              fmt::format("--warm-up leaves out every job: the last one is submitted {} after the "
                          "first, and the warm-up is {}",
                          text::format_duration(span), text::format_duration(warm_up)),
              {}, "give a shorter --warm-up");
}

}  // namespace almanac::experiment
