// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policies that can run on Slurm, and what Slurm does without us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/composition.h"
#include "trace/trace.h"

namespace almanac::advice {

/// Returns the model of the Slurm that decides today: policy `slurm`. If nothing is known of a site
/// and no job of `log` has a time limit, backfill would never start a job under it; then first
/// come, first served with backfill that expects what the user's jobs took (easy+limit).
policy::Composition slurm_today(const trace::Trace& log, bool has_site);

/// Returns `today`, which slurm_today() returned, with passes and cycles later; nothing if it has
/// none.
std::optional<policy::Composition> slurm_later(const policy::Composition& today, Duration by);

/// Whether a policy is policy `slurm`, or the model in its place: no rules of Almanac bind it.
bool is_slurm(const policy::Composition& composition);

/// Whether a policy is Kueue, which decides on another kind of cluster.
bool is_kueue(const policy::Composition& composition);

/// Returns the policies of the registry that need nothing beyond Slurm: no changes of running jobs,
/// no leases, no preemption of jobs that are not marked for it. The recommended one is first
/// (policy/recommended.h). Each as it is and, if it lets no job pass, also with backfill, which
/// Slurm has anyway. What only a simulation can know is learned (service::compose). Slurm itself is
/// not among them.
std::vector<policy::Composition> candidates();

/// Returns the policies in `names`, separated by commas. Fails with `usage` like
/// Registry::compose(), and with `unsupported` if a policy needs more than Slurm does.
Result<std::vector<policy::Composition>> candidates(const std::string& names);

}  // namespace almanac::advice
