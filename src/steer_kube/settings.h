// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an operator allows Almanac to do on a Kubernetes cluster.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/time.h"
#include "service/manager.h"

namespace almanac::steer_kube {

/// The number by which Kueue orders workloads that lever `order` writes.
enum class Field : std::uint8_t {
  priority,  ///< spec.priority
  boost,     ///< The annotation kueue.x-k8s.io/priority-boost; needs Kueue's gate PriorityBoost.
};
inline std::string_view to_string(Field field) {
  return field == Field::boost ? "boost" : "priority";
}

struct Settings {
  service::Switch order = service::Switch::dry;
  Field field = Field::priority;
  /// ClusterQueues in which the lever acts; empty = all that share no cohort.
  std::set<std::string> canary{};
  std::set<std::string> exempt{};       ///< Namespaces whose workloads are never touched.
  bool is_fair = false;                 ///< Kueue's configuration fairSharing.
  std::string user_label{};             ///< Label of workloads that names the user.
  std::string lease_space = "almanac";  ///< Namespace of the Lease.
  /// Workloads that have waited longer go first, the longest wait first.
  Duration age_cap = 24h * 7;
};

}  // namespace almanac::steer_kube
