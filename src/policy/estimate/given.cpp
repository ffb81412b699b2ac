// SPDX-License-Identifier: Apache-2.0

/// \file
/// The prediction in the trace. See predict/estimator.h.
#include <algorithm>

#include <fmt/format.h>

#include "policy/registry.h"

namespace almanac::policy::estimate {

void register_given(Registry& registry) {
  registry.estimates.add(
      {.name = "given",
       .summary = "the trace's own column predicted_s",
       .source = "the trace",
       .traits = {.has = {Trait::reads_predictions}}},
      [](const Parameters&, const History& history) -> Result<std::unique_ptr<predict::Estimator>> {
        const auto& jobs = history.log.jobs;
        const auto unpredicted = std::count_if(jobs.begin(), jobs.end(), [](const trace::Job& job) {
          return job.request.gpus > 0 && job.request.predicted == kNoDuration;
        });
        if (unpredicted == 0) return predict::make_given();
        return fail(Code::usage,
                    fmt::format("{} jobs of the trace have no predicted_s", unpredicted),
                    {.file = history.log.path}, "estimate given needs that column for every job");
      });
}

}  // namespace almanac::policy::estimate
