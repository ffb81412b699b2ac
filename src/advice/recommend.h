// SPDX-License-Identifier: Apache-2.0

/// \file
/// The conclusions from simulated weeks, each with its conditions.
#pragma once

#include <string>
#include <vector>

#include "advice/advise.h"
#include "cluster/cluster.h"
#include "policy/composition.h"

namespace almanac::advice {

/// Whether the waits simulated for stock Slurm are the real ones (experiment::reproduces()).
/// Requires Advice::real.
bool is_like_real(const Advice& advice);

/// Whether a policy is worth a change: jobs wait at all, and with 95 % confidence the average wait
/// is at least 1.1 times shorter and jobs complete no later.
bool is_worth_it(const Advice& advice, const Outcome& outcome);

/// Returns a short description of a policy: "shortest predicted GPU time first, with backfill".
std::string explain(const policy::Composition& composition);

/// The answer. Its first sentence says if the model is not the cluster; then nothing is
/// recommended.
std::string recommend(const Advice& advice);
std::vector<std::string> assumptions_of(const Advice& advice, const cluster::Cluster& cluster);
std::vector<std::string> cautions_of(const Advice& advice);

}  // namespace almanac::advice
