// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an operator allows Almanac to do on a Kubernetes cluster.
#pragma once

#include <set>
#include <string>

#include "base/time.h"
#include "kube/mark.h"
#include "kueue/order.h"
#include "service/manager.h"

namespace almanac::steer_kube {

using kube::Field;

struct Settings {
  service::Switch order = service::Switch::dry;
  Field field = Field::priority;
  /// ClusterQueues in which the lever acts; empty = all that share no cohort.
  std::set<std::string> canary{};
  /// ClusterQueues that may be StrictFIFO: they are ordered with a reservation for the workload
  /// that they wait for, and wait several times as long once Almanac does not order them.
  std::set<std::string> backfill{};
  std::set<std::string> exempt{};       ///< Namespaces whose workloads are never touched.
  bool is_fair = false;                 ///< Kueue's configuration fairSharing.
  std::string user_label{};             ///< Label of workloads that names the user.
  std::string lease_space = "almanac";  ///< Namespace of the Lease.
  /// Workloads that have waited longer go first, the longest wait first.
  Duration age_cap = kueue::kAgeCap;
};

}  // namespace almanac::steer_kube
