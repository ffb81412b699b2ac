// SPDX-License-Identifier: Apache-2.0
#include "sim/profile.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policy/pipeline.h"
#include "text/nearest.h"

namespace almanac::sim {
namespace {

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

Result<void> as_in_synergy(policy::Composition& composition, schedule::RestartCost& restart) {
  const bool known =
      composition.lease > Duration{0} &&
      is_one_of(composition.order, {"fifo", "srtf", "las", "ftf", "drf", "tetris"}) &&
      is_one_of(composition.size, {"proportional", "greedy", "tune", "opt"});
  if (!known) {
    return fail(Code::usage,
                fmt::format("profile synergy knows no policy {}: order {}, size {}, {}",
                            composition.name, composition.order, composition.size,
                            composition.lease > Duration{0} ? "leases" : "no leases"),
                {},
                "it is for synergy_proportional, synergy_greedy, synergy_tune and synergy_opt with "
                "order fifo, srtf, las, ftf, drf or tetris");
  }
  composition.as_published = true;
  restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s, .launch = 0s};
  return {};
}

Result<void> as_in_slurm(policy::Composition& composition) {
  const bool simple = (composition.reserve == 0 || composition.reserve == policy::kNobodyHolds) &&
                      composition.preempt == policy::Preempt::never &&
                      composition.share == policy::Share::queue && composition.lease == Duration{0};
  if (!simple) {
    return fail(Code::usage,
                fmt::format("profile slurm knows no policy that preempts, keeps reservations, or "
                            "has leases or shares: {}",
                            composition.name),
                {},
                "it is for those in strict order or that scan, such as fifo and qssf+ces_venus");
  }
  composition.binds = true;
  return {};
}

}  // namespace

Result<void> apply_profile(const std::string& name, policy::Composition& composition,
                           schedule::RestartCost& restart) {
  if (name.empty()) return {};
  if (name == "synergy") return as_in_synergy(composition, restart);
  if (name == "slurm") return as_in_slurm(composition);
  if (name != "helios") {
    static const std::vector<std::string> known = {"helios", "synergy", "slurm"};
    return fail(Code::usage, fmt::format("no profile is called {}", name), {},
                text::meant_or_known(name, known));
  }
  restart = {.one_gpu = 7s, .up_to_8_gpus = 30s, .more_gpus = 60s, .launch = Duration{0}};
  if (composition.preempt == policy::Preempt::by_rank && composition.order == "srtf") {
    composition.preempt = policy::Preempt::quota;
    restart.launch = 1s;
  }
  if (composition.order == "gpu_time") composition.rank_delay = 1s;
  return {};
}

Result<void> fit_profile(policy::Composition& composition, const trace::Trace& trace,
                         bool has_speeds) {
  if (composition.binds && has_speeds) {
    return fail(Code::usage, "profile slurm takes jobs to run as recorded, whatever they are given",
                {}, "leave --speed and the limits of GPUs out");
  }
  if (!composition.as_published) return {};
  if (!has_speeds) {
    return fail(Code::usage, "profile synergy needs to know how fast jobs run with what", {},
                "add --speed with the table of its models, a CSV");
  }
  // Its static traces begin to be scheduled at 1 s, when the last job has come.
  const bool at_once = !trace.jobs.empty() &&
                       trace.jobs.back().request.submit - trace.jobs.front().request.submit < 1s;
  composition.lease_phase = at_once ? 1s : 0s;
  return {};
}

WholeSteps whole_steps_of(const policy::Composition& composition) {
  if (!composition.as_published) return {};
  return {.lease = composition.lease, .phase = composition.lease_phase};
}

bool takes_model(const std::string& estimate) {
  return estimate == "learned" || estimate == "learned_90";
}

Result<std::unique_ptr<predict::Estimator>> make_estimator(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model) {
  if (composition.estimate == "oracle") return predict::make_oracle(trace.jobs);
  if (composition.estimate == "history") return predict::make_history();
  if (composition.estimate == "rolling") return predict::make_rolling(trace.names);
  if (composition.estimate == "learned")
    return predict::make_learned(trace.names, std::move(model));
  if (composition.estimate == "learned_90") {
    return predict::make_learned_90(trace.names, std::move(model));
  }
  if (composition.estimate == "noisy") return predict::make_noisy(trace.jobs);
  if (composition.estimate == "limit") return predict::make_limit();
  const auto unpredicted =
      std::count_if(trace.jobs.begin(), trace.jobs.end(), [](const trace::Job& job) {
        return job.request.gpus > 0 && job.request.predicted == kNoDuration;
      });
  if (unpredicted > 0) {
    return fail(Code::usage,
                fmt::format("policy {}: {} jobs of the trace have no predicted_s", composition.name,
                            unpredicted),
                {.file = trace.path}, "estimate given needs that column for every job");
  }
  return predict::make_given();
}

Result<std::unique_ptr<policy::Policy>> make_policy(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model) {
  auto estimator = make_estimator(composition, trace, std::move(model));
  if (!estimator) return tl::unexpected(estimator.error());
  return policy::make_pipeline(composition, std::move(*estimator));
}

}  // namespace almanac::sim
