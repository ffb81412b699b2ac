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
                fmt::format("profile slurm supports no policy that preempts, keeps reservations, "
                            "or has leases or several queues: {}",
                            run.composition.name),
                {}, "use one with a strict order or a scan, such as fifo or qssf+ces_venus");
  }
  run.binds = true;
  return {};
}

}  // namespace

Result<void> apply_profile(const std::string& name, PolicyRun& run) {
  if (name.empty()) return {};
  if (run.talk) {
    return fail(Code::usage,
                fmt::format("profile {} does not support policy {}, which another program decides",
                            name, run.composition.name),
                {}, "leave --profile out");
  }
  if (name == "slurm") return as_in_slurm(run);
  return fail(Code::usage, fmt::format("no profile is named {} (known: slurm)", name), {},
              name == "helios" || name == "synergy"
                  ? "almanac-reproduce runs published simulators: recipes helios-simulator, synergy"
                  : "");
}

Result<void> fit_profile(const PolicyRun& run, bool has_speeds) {
  if (run.binds && has_speeds) {
    return fail(Code::usage, "profile slurm runs jobs as recorded, whatever resources they get", {},
                "leave out --speed and the power limits of GPUs");
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
  return schedule::make_policy(
      run.composition, schedule::SimulatedHost{.estimator = std::move(*estimator),
                                               .binds = run.binds,
                                               .learns_types = run.learns_types,
                                               .site = {run.site, &trace.names, run.queues}});
}

}  // namespace almanac::experiment
