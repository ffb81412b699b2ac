// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a failure model assumes of a run, and what it did.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/failure_report.h"

namespace almanac::experiment {

/// Notes the checkpoint intervals that the model gives to jobs that state none, a missing
/// checkpoint time, and spare nodes. Requests stay as the log has them: an assumed interval is no
/// sign that a policy may stop a job.
void note_failures(const faults::Model& model, const cluster::Cluster& cluster,
                   const trace::Trace& trace, std::vector<std::string>& notes);

/// Returns the report of a schedule. Requires Prepared::failures.
FailureReport failures_of(const Prepared& prepared, const sim::Schedule& schedule);

}  // namespace almanac::experiment
