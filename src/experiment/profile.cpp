// SPDX-License-Identifier: Apache-2.0
#include "experiment/profile.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policy/registry.h"
#include "schedule/hosts.h"
#include "script/scripted.h"
#include "text/nearest.h"

namespace almanac::experiment {
namespace {

using policy::Trait;

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
  if (name == "slurm") return as_in_slurm(run);
  return fail(
      Code::usage, fmt::format("no profile is called {} (known: slurm)", name), {},
      name == "helios" || name == "synergy"
          ? "almanac-reproduce plays published simulators: recipes helios-simulator, synergy"
          : "");
}

Result<void> fit_profile(const PolicyRun& run, bool has_speeds) {
  if (run.binds && has_speeds) {
    return fail(Code::usage, "profile slurm takes jobs to run as recorded, whatever they are given",
                {}, "leave --speed and the limits of GPUs out");
  }
  return {};
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
  if (run.talk) {
    const bool believes = run.composition.scripted->has(Trait::reads_run_times);
    return script::make_scripted(
        run.talk, trace,
        policy::registry().placements.make(run.composition.placement, policy::Host{}),
        believes ? std::move(*estimator) : nullptr);
  }
  return schedule::make_policy(run.composition,
                               schedule::SimulatedHost{.estimator = std::move(*estimator),
                                                       .binds = run.binds,
                                                       .learns_types = run.learns_types});
}

}  // namespace almanac::experiment
