// SPDX-License-Identifier: Apache-2.0
#include "sim/profile.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policy/registry.h"
#include "script/scripted.h"
#include "text/nearest.h"

namespace almanac::sim {
namespace {

using policy::Trait;

/// The pass of Synergy's artifact, and its parameters that name orders and sizes.
constexpr const char* kSynergy = "synergy_rounds";

Result<void> as_in_synergy(PolicyRun& run) {
  const policy::Registry& known = policy::registry();
  const auto& parameters = known.passes.find(kSynergy)->parameters;
  policy::Choice rounds = kSynergy;
  const Duration lease = known.lease(run.composition);
  bool fits = lease > Duration{0};
  for (const auto& [slot, choice] :
       {std::pair{"order", &run.composition.order}, std::pair{"size", &run.composition.size}}) {
    const auto& words = policy::find_parameter(parameters, slot)->words;
    const auto found = std::find(words.begin(), words.end(), choice->name);
    fits = fits && found != words.end();
    rounds.told[slot] = {static_cast<double>(found - words.begin())};
  }
  if (!fits) {
    return fail(
        Code::usage,
        fmt::format("profile synergy knows no policy {}: order {}, size {}, {}",
                    run.composition.name, run.composition.order.name, run.composition.size.name,
                    lease > Duration{0} ? "leases" : "no leases"),
        {},
        "it is for synergy_proportional, synergy_greedy, synergy_tune and synergy_opt with "
        "order fifo, srtf, las, ftf, drf or tetris");
  }
  rounds.told["lease_s"] = {seconds(lease)};
  run.composition.pass = std::move(rounds);
  run.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s, .launch = 0s};
  return {};
}

Result<void> as_in_slurm(PolicyRun& run) {
  static const policy::TraitSet kBeyond = {Trait::stops_jobs, Trait::reserves, Trait::leases,
                                           Trait::splits_queue};
  if (policy::registry().traits(run.composition).any_of(kBeyond)) {
    return fail(Code::usage,
                fmt::format("profile slurm knows no policy that preempts, keeps reservations, or "
                            "has leases or several queues: {}",
                            run.composition.name),
                {},
                "it is for those in strict order or that scan, such as fifo and qssf+ces_venus");
  }
  run.binds = true;
  return {};
}

}  // namespace

Result<void> apply_profile(const std::string& name, PolicyRun& run) {
  if (name.empty()) return {};
  if (run.talk) {
    return fail(Code::usage,
                fmt::format("profile {} knows no policy {}, which another program decides", name,
                            run.composition.name),
                {}, "leave --profile out");
  }
  if (name == "synergy") return as_in_synergy(run);
  if (name == "slurm") return as_in_slurm(run);
  if (name != "helios") {
    static const std::vector<std::string> known = {"helios", "synergy", "slurm"};
    return fail(Code::usage, fmt::format("no profile is called {}", name), {},
                text::meant_or_known(name, known));
  }
  run.restart = {.one_gpu = 7s, .up_to_8_gpus = 30s, .more_gpus = 60s, .launch = Duration{0}};
  policy::Composition& composition = run.composition;
  if (composition.pass == "by_rank" && composition.order == "srtf") {
    composition.pass = "helios_count";
    run.restart.launch = 1s;
  }
  if (composition.pass == "strict" && composition.order == "gpu_time") {
    composition.pass = "helios_qssf";
  }
  return {};
}

Result<void> fit_profile(PolicyRun& run, const trace::Trace& trace, bool has_speeds) {
  if (run.binds && has_speeds) {
    return fail(Code::usage, "profile slurm takes jobs to run as recorded, whatever they are given",
                {}, "leave --speed and the limits of GPUs out");
  }
  if (run.composition.pass != kSynergy) return {};
  if (!has_speeds) {
    return fail(Code::usage, "profile synergy needs to know how fast jobs run with what", {},
                "add --speed with the table of its models, a CSV");
  }
  // Its static traces begin to be scheduled at 1 s, when the last job has come.
  const bool at_once = !trace.jobs.empty() &&
                       trace.jobs.back().request.submit - trace.jobs.front().request.submit < 1s;
  run.composition.pass.told["phase_s"] = {at_once ? 1.0 : 0.0};
  return {};
}

WholeSteps whole_steps_of(const policy::Composition& composition) {
  if (composition.pass != kSynergy) return {};
  const policy::Entry& rounds = policy::registry().passes.at(composition.pass);
  const policy::Parameters told(rounds.parameters, composition.pass);
  return {.lease = told.duration("lease_s"), .phase = told.duration("phase_s")};
}

Result<std::unique_ptr<predict::Estimator>> make_estimator(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model) {
  auto made = policy::registry().estimates.make(composition.estimate,
                                                {.log = trace, .model = std::move(model)});
  if (made) return made;
  Error error = made.error();
  error.message = fmt::format("policy {}: {}", composition.name, error.message);
  return tl::unexpected(std::move(error));
}

Result<std::unique_ptr<policy::Policy>> make_policy(
    const PolicyRun& run, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model) {
  auto estimator = make_estimator(run.composition, trace, std::move(model));
  if (!estimator) return tl::unexpected(estimator.error());
  const policy::Registry& known = policy::registry();
  if (run.talk) {
    const bool believes = run.composition.scripted->has(Trait::reads_run_times);
    return script::make_scripted(run.talk, trace,
                                 known.placements.make(run.composition.placement, policy::Host{}),
                                 believes ? std::move(*estimator) : nullptr);
  }
  return known.make(
      run.composition,
      {.estimator = std::move(*estimator),
       .binds = run.binds,
       .type_speeds = run.learns_types ? std::make_shared<predict::TypeSpeeds>() : nullptr});
}

}  // namespace almanac::sim
