// SPDX-License-Identifier: Apache-2.0

/// \file
/// How objects of the API become a picture: shared by one that is taken at once (picture.h) and one
/// that follows the cluster (live.h).
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "kube/picture.h"

namespace almanac::kube {

/// Returns a ResourceFlavor, Cohort or ClusterQueue as kubectl prints it, without its status: items
/// of lists have no kind.
nlohmann::json declared(nlohmann::json object, const std::string& kind, const std::string& version);

/// Sets the quotas that `items`, a list of declared() objects, make. Fails like
/// kueue::parse_objects(); then the picture keeps its quotas.
Result<void> set_objects(Picture& picture, const nlohmann::json& items);

/// Sorts the workloads, and adds what does not depend on the scheduler: nodes, or a note without
/// the right to list them, and the time.
void add_nodes(Client& client, Picture& picture);

/// Notes resources that are not counted as GPUs, because their columns show 0.
void note_other_accelerators(Picture& picture);

}  // namespace almanac::kube
