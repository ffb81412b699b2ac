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

namespace almanac::experiment {

/// A policy and what is particular to its run.
struct PolicyRun {
  policy::Composition composition;
  schedule::RestartCost restart{};
  bool binds = false;         ///< As policy::Host has it.
  bool learns_types = false;  ///< It learns of jobs that run how fast they are on types of GPUs.
  /// With the program that decides, where the composition is scripted.
  std::shared_ptr<script::Talk> talk{};
};

/// Sets the options of profile `name` for one policy; "" sets nothing. Known: "slurm".
///
/// "slurm" is what Slurm does with nodes that sleep (its power saving guide; observed on 22.05): a
/// job that lacks them is given them at once, and waits for their boot though others come free
/// before. It is for policies that neither preempt nor keep reservations nor deal out leases. GPUs
/// count as in use from when they are given, as in Slurm.
Result<void> apply_profile(const std::string& name, PolicyRun& run);

/// Fails with usage if the profile of `run` does not go with known speeds.
Result<void> fit_profile(const PolicyRun& run, bool has_speeds);

/// What is believed of run times by the estimate of `composition`, in a simulation of `trace`,
/// which must outlive it. Fails with usage when the trace lacks what the estimate needs. `model`
/// may be null, and is what a learned estimate begins with.
Result<std::unique_ptr<predict::Estimator>> make_estimator(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model = nullptr);

/// The policy of `run` for a simulation of `trace`, which must outlive it; with that estimate.
Result<std::unique_ptr<policy::Policy>> make_policy(
    const PolicyRun& run, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model = nullptr);

/// The same without a profile.
inline Result<std::unique_ptr<policy::Policy>> make_policy(
    const policy::Composition& composition, const trace::Trace& trace,
    std::shared_ptr<const predict::StoredModel> model = nullptr) {
  return make_policy(PolicyRun{composition}, trace, std::move(model));
}

}  // namespace almanac::experiment
