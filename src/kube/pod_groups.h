// SPDX-License-Identifier: Apache-2.0

/// \file
/// Clusters whose gangs Volcano or KAI admits: their PodGroups as workloads and their Queues as
/// queues, for job logs, study and advice. Almanac has no lever there.
///
/// Source   Volcano, scheduling.volcano.sh/v1beta1 (PodGroup, Queue); KAI-Scheduler,
///          scheduling.run.ai/v2alpha2 (PodGroup) and v2 (Queue); Kubernetes core/v1 (Pod).
/// Differs  Quotas and weights of these Queues are not read, because no policy follows their rules.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "kube/client.h"
#include "kube/picture.h"

namespace almanac::kube {

struct GangScheduler {
  const char* name;
  const char* api;         ///< Path of its API group, by which it is found.
  const char* pod_groups;  ///< Path of the collection.
  const char* queues;      ///< The same.
  const char* annotation;  ///< Of a pod: the name of its PodGroup.
  const char* no_lever;    ///< Why Almanac has no lever there, a clause.
};
std::span<const GangScheduler> gang_schedulers();

/// Whether the server has its API group.
bool has(Client& client, const GangScheduler& scheduler);

/// Lists PodGroups, Queues, pods and nodes. A gang waits until minMember of its pods have started,
/// and ends with its last container. A PodGroup that ran and has fewer pods than minMember left is
/// left out with a note, since nothing says for how long. So is one without a phase and without
/// pods, since it may wait or have run. Fails like list().
Result<Picture> take_picture(Client& client, const GangScheduler& scheduler,
                             const std::string& user_label = "");

/// Returns the picture of a cluster with Kueue, else with the first of gang_schedulers() that it
/// has. Fails like take_picture(); with not_found if it has none of them.
Result<Picture> take_picture_of_any(Client& client, const std::string& user_label = "");

}  // namespace almanac::kube
