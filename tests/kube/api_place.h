// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which objects a path of the API names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace almanac::kube {

/// A kind of objects.
struct ApiKind {
  const char* group;
  const char* plural;
  const char* singular;
  const char* kind;
  const char* short_name;
  bool namespaced;
  bool has_status;
};

inline constexpr const char* kKueueGroup = "kueue.x-k8s.io";
inline constexpr ApiKind kApiKinds[] = {
    {kKueueGroup, "workloads", "workload", "Workload", "wl", true, true},
    {kKueueGroup, "clusterqueues", "clusterqueue", "ClusterQueue", "cq", false, true},
    {kKueueGroup, "localqueues", "localqueue", "LocalQueue", "lq", true, true},
    {kKueueGroup, "cohorts", "cohort", "Cohort", "co", false, true},
    {kKueueGroup, "resourceflavors", "resourceflavor", "ResourceFlavor", "rf", false, false},
    {kKueueGroup, "topologies", "topology", "Topology", "", false, false},
    {kKueueGroup, "admissionchecks", "admissioncheck", "AdmissionCheck", "ac", false, true},
    {kKueueGroup, "workloadpriorityclasses", "workloadpriorityclass", "WorkloadPriorityClass",
     "wpc", false, false},
    {"scheduling.volcano.sh", "podgroups", "podgroup", "PodGroup", "pg", true, true},
    {"scheduling.volcano.sh", "queues", "queue", "Queue", "q", false, true},
    {"scheduling.run.ai", "podgroups", "podgroup", "PodGroup", "pg", true, true},
    {"scheduling.run.ai", "queues", "queue", "Queue", "q", false, true},
    {"", "nodes", "node", "Node", "no", false, true},
    {"", "pods", "pod", "Pod", "po", true, true},
    {"", "namespaces", "namespace", "Namespace", "ns", false, true},
    {"", "configmaps", "configmap", "ConfigMap", "cm", true, false},
    {"apps", "deployments", "deployment", "Deployment", "deploy", true, true},
    {"coordination.k8s.io", "leases", "lease", "Lease", "", true, false}};

inline const ApiKind* kind_of(const std::string& group, const std::string& plural) {
  const auto found = std::find_if(
      std::begin(kApiKinds), std::end(kApiKinds),
      [&](const ApiKind& each) { return each.group == group && each.plural == plural; });
  return found == std::end(kApiKinds) ? nullptr : &*found;
}

inline std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> made;
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t slash = std::min(path.find('/', from), path.size());
    made.push_back(path.substr(from, slash - from));
    from = slash + 1;
  }
  return made;
}

/// What a path names.
struct ApiPlace {
  const ApiKind* kind = nullptr;
  std::string version{};
  std::string name_space{};  ///< "" = all, or the kind has none.
  std::string name{};        ///< "" = the collection.
  bool is_status = false;

  static std::optional<ApiPlace> of(const std::string& path) {
    std::vector<std::string> parts = parts_of(path);
    const bool is_core = !parts.empty() && parts[0] == "api";
    const std::size_t head = is_core ? 2 : 3;
    if (parts.size() <= head || (!is_core && parts[0] != "apis")) return std::nullopt;
    const std::string group = is_core ? "" : parts[1];
    ApiPlace made{.version = parts[head - 1]};
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));
    if (parts.size() >= 3 && parts[0] == "namespaces") {
      made.name_space = parts[1];
      parts.erase(parts.begin(), parts.begin() + 2);
    }
    made.kind = kind_of(group, parts[0]);
    if (made.kind == nullptr || parts.size() > 3) return std::nullopt;
    if (parts.size() > 1) made.name = parts[1];
    if (parts.size() > 2) {
      if (parts[2] != "status") return std::nullopt;
      made.is_status = true;
    }
    return made;
  }
  std::string collection() const { return fmt::format("{}/{}", kind->group, kind->plural); }
  std::string key() const { return name_space + "/" + name; }
  std::string api_version() const {
    return *kind->group == '\0' ? version : fmt::format("{}/{}", kind->group, version);
  }
  /// "workloads.kueue.x-k8s.io"
  std::string resource() const {
    return *kind->group == '\0' ? kind->plural : fmt::format("{}.{}", kind->plural, kind->group);
  }
  nlohmann::json details(const std::string& kind_name) const {
    nlohmann::json made{{"kind", kind_name}};
    if (!name.empty()) made["name"] = name;
    if (*kind->group != '\0') made["group"] = kind->group;
    return made;
  }
  /// "Workload.kueue.x-k8s.io"
  std::string full_kind() const { return fmt::format("{}.{}", kind->kind, kind->group); }
};

}  // namespace almanac::kube
