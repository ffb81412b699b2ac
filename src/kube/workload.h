// SPDX-License-Identifier: Apache-2.0

/// \file
/// Objects of a cluster as Almanac sees them: workloads, local queues and nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/mark.h"
#include "kueue/setup.h"

namespace almanac::kube {

/// A requirement on a node label: "In", "NotIn", "Exists" or "DoesNotExist".
struct Requirement {
  std::string key{};
  std::string op{};
  std::vector<std::string> values{};
};

/// A pod set as it was submitted, for Kueue's rules, and the node affinity of its pods.
struct PodSet {
  kueue::PodSet pods{};
  /// Terms of the required node affinity, of which one must hold; empty = none is required.
  std::vector<std::vector<Requirement>> affinity{};
  int reclaimable = 0;  ///< Pods that have ended and gave their quota back.
};

/// The quota that pods of a set hold, by flavor.
struct Assigned {
  std::string pod_set{};
  int count = 0;
  std::map<std::string, std::string> flavors{};  ///< By resource.
};

enum class Stage : std::uint8_t {
  pending,
  reserved,  ///< It holds quota and waits for its admission checks.
  admitted,
  finished,
};
std::string_view to_string(Stage stage);

struct Workload {
  std::string name{};
  std::string name_space{};
  std::string uid{};
  std::string version{};     ///< resourceVersion, for guarded changes.
  std::string owner{};       ///< "Job train", or "" without an owner.
  std::string owner_kind{};  ///< "Job"
  std::string local_queue{};
  std::string user{};  ///< Value of the label that the site says; "" = none.
  Time created = kNoTime;
  std::int64_t priority = 0;
  std::string priority_class{};
  bool is_of_kueue_class = false;  ///< A WorkloadPriorityClass, which Kueue writes again.
  std::string priority_writer{};   ///< Field manager that wrote spec.priority last: "kueue".
  std::optional<std::int64_t> boost{};
  bool has_boost_text = false;  ///< The annotation is there, with a number or without.
  std::optional<Mark> mark{};   ///< The annotation almanac/order, by which lever order is undone.
  bool is_active = true;
  bool is_deleted = false;  ///< Its deletion has begun.
  bool is_gated = false;
  Duration limit = kNoDuration;  ///< maximumExecutionTimeSeconds
  Duration earlier{0};           ///< Run time before the last eviction, if the limit counts it.
  std::vector<PodSet> pod_sets{};
  /// Resources that its pods request and the site's Kueue does not count.
  std::set<std::string> uncounted{};
  bool has_topology = false;  ///< Some pod set requests a topology.

  Stage stage = Stage::pending;
  std::string cluster_queue{};  ///< Of its admission.
  std::vector<Assigned> assigned{};
  std::string reason{};   ///< Kueue's, why it holds no quota: "WaitingForQuota"; "" = none given.
  std::string message{};  ///< Kueue's sentence.
  Time reserved = kNoTime;
  Time admitted = kNoTime;
  Time finished = kNoTime;
  bool has_failed = false;
  std::int64_t evictions = 0;

  std::string full_name() const { return name_space + "/" + name; }
  bool holds_quota() const { return stage == Stage::reserved || stage == Stage::admitted; }
  /// GPUs of all pods that have not ended; of every resource whose name ends in "/gpu".
  std::int64_t gpus() const;
  /// The same sum of one resource.
  kueue::Amount total(const std::string& resource) const;
};

/// A pod of a gang that another scheduler than Kueue admits.
struct Pod {
  std::string name_space{};
  std::string group{};  ///< Name of its PodGroup; "" = none.
  std::map<std::string, kueue::Amount> requests{};
  Time started = kNoTime;
  Time ended = kNoTime;  ///< The end of its last container that has ended.
  bool is_over = false;
  bool has_failed = false;
};

/// The gang, and what it says itself; its pods say the rest.
struct PodGroup {
  Workload workload{};  ///< With what minMember pods request, if the scheduler says so.
  int min_member = 0;   ///< Pods that must start together.
  std::string phase{};  ///< "" = the scheduler sets none.
};

struct LocalQueue {
  std::string name{};
  std::string name_space{};
  std::string cluster_queue{};
  bool is_stopped = false;
};

struct Node {
  std::string name{};
  std::map<std::string, std::string> labels{};
  std::map<std::string, kueue::Amount> allocatable{};
  bool is_ready = false;
  bool is_schedulable = true;
  std::int64_t gpus() const;
  std::string product() const;  ///< "NVIDIA-H100-80GB-HBM3"; "" = no label names it.
};

/// Whether a resource is an accelerator that gpus() does not count: a MIG instance, a shared GPU, a
/// TPU, Neuron, Gaudi or an Intel GPU.
bool is_other_accelerator(std::string_view resource);

/// Whether labels satisfy one of the terms. Of a flavor only the labels that it has are looked at,
/// as Kueue does.
bool suits(const std::vector<std::vector<Requirement>>& affinity,
           const std::map<std::string, std::string>& labels);

}  // namespace almanac::kube
