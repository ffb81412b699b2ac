// SPDX-License-Identifier: Apache-2.0

/// \file
/// Applies a failure model to the jobs of a run, and summarizes what it did.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/failure_report.h"

namespace almanac::experiment {

/// Gives the model's checkpoint interval and restart time to jobs that state none, and notes it.
/// Policies and preemptions then use them, too.
void apply_failures(const faults::Model& model, const cluster::Cluster& cluster,
                    trace::Trace& trace, std::vector<std::string>& notes);

/// Returns the report of a schedule. Requires Prepared::failures.
FailureReport failures_of(const Prepared& prepared, const sim::Schedule& schedule);

}  // namespace almanac::experiment
