// SPDX-License-Identifier: Apache-2.0

/// \file
/// Notes for the user before a run: assumptions, and what is left out.
#pragma once

#include <string>
#include <vector>

#include "cluster/incidents.h"
#include "experiment/experiment.h"

namespace almanac::experiment {

/// Notes what is assumed of jobs that lose their nodes, which signals no summary bills, which part
/// of the log a signal leaves out, and which GPU types have no price although others do.
void note_assumptions(const cluster::Incidents& incidents, const cluster::Cluster& cluster,
                      const trace::Trace& trace, std::vector<std::string>& notes);

/// Notes which requests of jobs the simulation leaves out.
void note_what_is_left_out(const trace::Trace& trace, const cluster::Cluster& cluster,
                           std::vector<std::string>& notes);

/// Notes that no change of capacity falls into the time of the trace, if so.
void note_capacity_changes(const Prepared& prepared, std::vector<std::string>& notes);

/// Notes what is assumed of jobs that share GPUs.
void note_sharing(Prepared& made);

}  // namespace almanac::experiment
