// SPDX-License-Identifier: Apache-2.0

/// \file
/// The information that a program receives, as JSON. Times and durations are whole milliseconds;
/// null = unknown.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cluster/cluster.h"
#include "policy/contract/contract.h"
#include "trace/trace.h"

namespace almanac::script {

/// Returns the nodes, the names of virtual clusters, and the number of jobs of the log.
nlohmann::json to_json(const cluster::Cluster& cluster, const trace::Trace& trace);
/// Returns [kind, subject, value].
nlohmann::json to_json(const policy::Event& event);
/// Returns a job's request. `believed` is its predicted run time; kNoDuration = none.
nlohmann::json to_json(const trace::Trace& trace, const policy::View& view, JobId job,
                       Duration believed);
/// Returns a job's current state: [job, phase, since, start, attained, worked, charged,
/// preemptions, [[node, gpus] ...]].
nlohmann::json standing(const policy::View& view, JobId job);

}  // namespace almanac::script
