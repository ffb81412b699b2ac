// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes a run behave like Slurm by setting ordinary options; makes the policy of a run.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "predict/estimator.h"
#include "schedule/round.h"
#include "script/talk.h"
#include "trace/trace.h"

namespace almanac::site {
struct Site;
}

namespace almanac::experiment {

/// A policy and what is particular to its run.
struct PolicyRun {
  policy::Composition composition;
  schedule::RestartCost restart{};
  bool binds = false;         ///< See policy::Host.
  bool learns_types = false;  ///< Whether it learns the speed of running jobs on GPU types.
  /// The deciding program, if the composition is scripted.
  std::shared_ptr<script::Talk> talk{};
  /// The Slurm site that the cluster of the run was made from; null for none.
  std::shared_ptr<const site::Site> site{};
};

/// Applies profile `name` to the options of one policy; "" changes nothing. Known: "slurm".
///
/// "slurm" is what Slurm does with sleeping nodes (its power saving guide; observed on 22.05): a
/// job that needs them gets them at once, and waits for their boot even if others become free
/// first. It suits policies without preemption, reservations and leases. GPUs count as in use from
/// their allocation, as in Slurm.
Result<void> apply_profile(const std::string& name, PolicyRun& run);

/// Fails with usage if the profile of `run` does not go with known speeds.
Result<void> fit_profile(const PolicyRun& run, bool has_speeds);

/// Returns the run time estimator of `composition` for a simulation of `trace`, which must outlive
/// it. Fails with `usage` if the trace lacks what the estimate needs. `model`, which may be null,
/// is the start of a learned estimate.
Result<std::unique_ptr<predict::Estimator>> make_estimator(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model = nullptr);

/// The policy of `run` for a simulation of `trace`, which must outlive it; with that estimate.
Result<std::unique_ptr<policy::Policy>> make_policy(
    const PolicyRun& run, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model = nullptr);

/// Same without a profile.
inline Result<std::unique_ptr<policy::Policy>> make_policy(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model = nullptr) {
  return make_policy(PolicyRun{composition}, trace, std::move(model));
}

}  // namespace almanac::experiment
