// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a policy is told, as JSON. Times and durations are whole milliseconds; what is missing is
/// null.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cluster/cluster.h"
#include "policy/contract/contract.h"
#include "trace/trace.h"

namespace almanac::script {

nlohmann::json to_json(const cluster::Cluster& cluster, const trace::Trace& trace);
/// [kind, subject, value].
nlohmann::json to_json(const policy::Event& event);
/// What a job asks; `believed` kNoDuration = nothing is believed.
nlohmann::json to_json(const trace::Trace& trace, const policy::View& view, JobId job,
                       Duration believed);
/// Where a job stands now: [job, phase, since, start, attained, worked, charged, preemptions,
/// [[node, gpus] ...]].
nlohmann::json standing(const policy::View& view, JobId job);

}  // namespace almanac::script
