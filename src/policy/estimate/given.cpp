// SPDX-License-Identifier: Apache-2.0

/// \file
/// The prediction in the trace, as long as it orders recently ended jobs best. See
/// predict/proven.h.
#include <algorithm>

#include <fmt/format.h>

#include "policy/registry.h"
#include "predict/proven.h"

namespace almanac::policy::estimate {

void register_given(Registry& registry) {
  registry.estimates.add(
      {.name = "given",
       .summary =
           "the trace's own column predicted_s; by default only while it orders recently ended "
           "jobs better than limits, past runs and training steps do",
       .source = "the trace",
       .traits = {.has = {Trait::reads_predictions}},
       .parameters = {word("believed",
                           "whether predictions are used only while their decisions are the best, "
                           "or always",
                           {"proven", "always"})}},
      [](const Parameters& told,
         const History& history) -> Result<std::unique_ptr<predict::Estimator>> {
        const auto& jobs = history.log.jobs;
        const auto unpredicted = std::count_if(jobs.begin(), jobs.end(), [](const trace::Job& job) {
          return job.request.gpus > 0 && job.request.predicted == kNoDuration;
        });
        if (unpredicted == 0) {
          return told.word("believed") == "always" ? predict::make_given()
                                                   : predict::make_proven_given(history.log.names);
        }
        return fail(Code::usage,
                    fmt::format("{} jobs of the trace have no predicted_s", unpredicted),
                    {.file = history.log.path}, "estimate given needs that column for every job");
      });
}

}  // namespace almanac::policy::estimate
