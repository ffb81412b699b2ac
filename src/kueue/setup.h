// SPDX-License-Identifier: Apache-2.0

/// \file
/// Flavors, cohorts and queues as their Kubernetes objects declare them, and the parts of
/// Kueue's own configuration that no object shows.
///
/// Source   Kueue v0.19, API v1beta2: ResourceFlavor, Cohort, ClusterQueue.
/// Differs  Topologies, admission checks, usage-based sharing of LocalQueues and elastic slices are
///          not modelled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kueue/quantity.h"

namespace almanac::kueue {

struct Taint {
  std::string key{};
  std::string value{};
  std::string effect{};  ///< "NoSchedule", "NoExecute" or "PreferNoSchedule".
};

struct Toleration {
  std::string key{};    ///< "" = any.
  bool exists = false;  ///< Operator Exists: any value.
  std::string value{};
  std::string effect{};  ///< "" = any.
};

struct Flavor {
  std::string name{};
  std::map<std::string, std::string> labels{};
  std::vector<Taint> taints{};
  std::vector<Toleration> tolerations{};  ///< Added to those of the pods.
};

struct ResourceQuota {
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit{};
  std::optional<Amount> lending_limit{};
};

struct FlavorQuotas {
  std::string flavor{};
  std::map<std::string, ResourceQuota> resources{};
};

/// A workload takes all resources of a group from one flavor, in order of preference.
struct ResourceGroup {
  std::vector<FlavorQuotas> flavors{};  ///< All with the same resources.
};

struct Cohort {
  std::string name{};
  std::string parent{};  ///< "" = it is a root.
  std::vector<ResourceGroup> groups{};
  double weight = 1;
};

/// Which running workloads a new one may preempt.
enum class Preempts : std::uint8_t {
  never,
  lower_priority,
  lower_or_newer_equal_priority,
  any,
};

enum class Fungibility : std::uint8_t {
  may_stop_search,  ///< A flavor that needs it ends the search.
  try_next_flavor,
};

struct ClusterQueue {
  std::string name{};
  std::string cohort{};  ///< "" = it borrows from no queue. A cohort exists once a queue names it.
  std::vector<ResourceGroup> groups{};
  double weight = 1;        ///< Of fair sharing; 0 = after all others once it borrows.
  bool is_strict = false;   ///< StrictFIFO: the first workload blocks those behind it.
  bool is_stopped = false;  ///< It admits nothing (stopPolicy). What runs goes on.
  Preempts within_queue = Preempts::never;
  Preempts reclaim_within_cohort = Preempts::never;
  bool preempts_while_borrowing = false;  ///< borrowWithinCohort: LowerPriority.
  /// maxPriorityThreshold of borrowWithinCohort.
  std::optional<std::int64_t> highest_preempted_while_borrowing{};
  Fungibility when_can_borrow = Fungibility::may_stop_search;
  Fungibility when_can_preempt = Fungibility::try_next_flavor;
  bool prefers_preemption_over_borrowing = false;
};

struct Setup {
  std::vector<Flavor> flavors{};
  std::vector<Cohort> cohorts{};
  std::vector<ClusterQueue> queues{};
  bool is_fair = false;     ///< Kueue's configuration fairSharing.
  bool has_boosts = false;  ///< Feature gate PriorityBoost.
  /// Feature gate SchedulingEquivalenceHashing: workloads of the same shape are set aside together.
  bool sets_shapes_aside = true;
};

struct PodSet {
  std::string name{};
  int count = 1;
  int min_count = 0;                         ///< Partial admission; 0 = all or none.
  std::map<std::string, Amount> requests{};  ///< Of one pod.
  std::map<std::string, std::string> selector{};
  std::vector<Toleration> tolerations{};
  /// Only these (required node affinity); nothing = any.
  std::optional<std::vector<std::string>> flavors{};
};

/// A workload as it is submitted.
struct Submission {
  std::string name{};   ///< Its uid: decides between equals.
  std::string queue{};  ///< Its ClusterQueue.
  std::int64_t created = 0;
  std::int64_t priority = 0;
  std::int64_t boost = 0;
  std::vector<PodSet> pod_sets{};
};

}  // namespace almanac::kueue
