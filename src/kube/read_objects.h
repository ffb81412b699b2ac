// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads objects of the API versions v1beta1 and v1beta2. What users may write (names, labels,
/// messages) is made safe to print.
///
/// Source   Kueue v0.19, apis/kueue/v1beta1 and v1beta2 (workload_types.go, localqueue_types.go);
///          Kubernetes core/v1 (Node).
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "kube/workload.h"
#include "kueue/object.h"

namespace almanac::kube {

/// Returns the uid of an object whose other fields may be unreadable; "" = there is none.
std::string uid_of(const nlohmann::json& object);

/// Returns what the scheduler counts of a pod with this spec: the sum of its containers, or its
/// largest init container next to the sidecars that were started before it, and the overhead.
/// Throws kueue::Refused.
///
/// Source   Kubernetes, k8s.io/component-helpers resource.PodRequests().
std::map<std::string, kueue::Amount> requests_of_pod(const kueue::Object& spec);

/// `user_label` is the label that names the user; "" = none does. These fail with `invalid` for a
/// field that Kubernetes would refuse; the message names object and field.
Result<Workload> read_workload(const nlohmann::json& object, const std::string& user_label = "");
Result<LocalQueue> read_local_queue(const nlohmann::json& object);
Result<Node> read_node(const nlohmann::json& object);
/// Reads metadata.name.
Result<std::string> read_name(const nlohmann::json& object);
/// Objects of Volcano and KAI (pod_groups.h). `annotation` is the one that names the PodGroup.
Result<PodGroup> read_pod_group(const nlohmann::json& object, const std::string& user_label);
Result<Pod> read_pod(const nlohmann::json& object, const char* annotation);

}  // namespace almanac::kube
