// SPDX-License-Identifier: Apache-2.0

/// \file
/// The failure model fitted to the log of a simulation (--failures fitted).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "faults/fit.h"
#include "trace/trace.h"

namespace almanac::experiment {

using faults::kFitted;

/// Returns the runs of the jobs: FAILED and NODE_FAIL are failures. A job that gives neither nodes
/// nor a node list is on as few nodes of `cluster` as its GPUs need.
std::vector<faults::PastRun> runs_of(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Returns the model as TOML. Fails with usage if no failure of the log is one of the cluster.
Result<std::string> fitted_failures(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Returns the rates in a sentence, and where the log has too few failures.
std::string fit_in_words(const faults::Fit& fit);

}  // namespace almanac::experiment
