// SPDX-License-Identifier: Apache-2.0
#include "sim/profile.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policy/pipeline.h"

namespace almanac::sim {

Result<void> apply_profile(const std::string& name, policy::Composition& composition,
                           schedule::RestartCost& restart) {
  if (name.empty()) return {};
  if (name != "helios") {
    return fail(Code::usage, fmt::format("no profile is called {}", name), {}, "known: helios");
  }
  restart = {.one_gpu = 7s, .up_to_8_gpus = 30s, .more_gpus = 60s, .launch = Duration{0}};
  if (composition.preempt == policy::Preempt::by_rank && composition.order == "srtf") {
    composition.preempt = policy::Preempt::quota;
    restart.launch = 1s;
  }
  if (composition.order == "gpu_time") composition.rank_delay = 1s;
  return {};
}

bool takes_model(const std::string& estimate) {
  return estimate == "learned" || estimate == "learned_90";
}

Result<std::unique_ptr<policy::Policy>> make_policy(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model) {
  std::unique_ptr<predict::Estimator> estimator;
  if (composition.estimate == "oracle") {
    estimator = predict::make_oracle(trace.jobs);
  } else if (composition.estimate == "history") {
    estimator = predict::make_history();
  } else if (composition.estimate == "rolling") {
    estimator = predict::make_rolling(trace.names);
  } else if (composition.estimate == "learned") {
    estimator = predict::make_learned(trace.names, std::move(model));
  } else if (composition.estimate == "learned_90") {
    estimator = predict::make_learned_90(trace.names, std::move(model));
  } else if (composition.estimate == "noisy") {
    estimator = predict::make_noisy(trace.jobs);
  } else if (composition.estimate == "limit") {
    estimator = predict::make_limit();
  } else {
    const auto unpredicted =
        std::count_if(trace.jobs.begin(), trace.jobs.end(), [](const trace::Job& job) {
          return job.request.gpus > 0 && job.request.predicted == kNoDuration;
        });
    if (unpredicted > 0) {
      return fail(Code::usage,
                  fmt::format("policy {}: {} jobs of the trace have no predicted_s",
                              composition.name, unpredicted),
                  {.file = trace.path}, "estimate given needs that column for every job");
    }
    estimator = predict::make_given();
  }
  return policy::make_pipeline(composition, std::move(estimator));
}

}  // namespace almanac::sim
