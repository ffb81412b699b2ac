// SPDX-License-Identifier: Apache-2.0

/// \file
/// Objects of a small cluster, as kubectl would apply them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server.h"

namespace almanac::kube {

inline const std::string kKueueApi = "/apis/kueue.x-k8s.io/v1beta2";

inline std::string in_namespace(const std::string& name_space, const std::string& collection) {
  return kKueueApi + "/namespaces/" + name_space + "/" + collection;
}

inline Json flavor(const std::string& name, Json labels = Json::object()) {
  return {{"metadata", {{"name", name}}}, {"spec", {{"nodeLabels", std::move(labels)}}}};
}

/// A ClusterQueue with a quota of GPUs of one flavor.
inline Json cluster_queue(const std::string& name, int gpus, const std::string& cohort = "",
                          const Json& more = Json::object(),
                          const std::string& of_flavor = "default") {
  Json quota{{"name", "nvidia.com/gpu"}, {"nominalQuota", std::to_string(gpus)}};
  quota.update(more);
  Json spec{{"namespaceSelector", Json::object()},
            {"queueingStrategy", "BestEffortFIFO"},
            {"resourceGroups",
             {{{"coveredResources", {"nvidia.com/gpu"}},
               {"flavors", {{{"name", of_flavor}, {"resources", {quota}}}}}}}}};
  if (!cohort.empty()) spec["cohortName"] = cohort;
  return {{"metadata", {{"name", name}}}, {"spec", spec}};
}

inline Json local_queue(const std::string& name, const std::string& queue) {
  return {{"metadata", {{"name", name}}}, {"spec", {{"clusterQueue", queue}}}};
}

inline Json workload(const std::string& name, const std::string& queue, int gpus, int pods = 1) {
  const Json container{{"name", "c"},
                       {"resources", {{"requests", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}};
  return {{"metadata",
           {{"name", name}, {"uid", "uid-" + name}, {"creationTimestamp", "2026-11-01T00:00:00Z"}}},
          {"spec",
           {{"queueName", queue},
            {"priority", 0},
            {"podSets",
             {{{"name", "main"},
               {"count", pods},
               {"template", {{"spec", {{"containers", {container}}}}}}}}}}}};
}

inline Json condition(const std::string& type, const std::string& time,
                      const std::string& reason = "Ok", const std::string& status = "True") {
  return {{"type", type},
          {"status", status},
          {"reason", reason},
          {"message", reason},
          {"lastTransitionTime", time}};
}

/// The spec of a Deployment of one container.
inline Json pods_of(const std::string& image) {
  const Json labels{{"app", "kueue"}};
  return {{"selector", {{"matchLabels", labels}}},
          {"template",
           {{"metadata", {{"labels", labels}}},
            {"spec", {{"containers", {{{"name", "manager"}, {"image", image}}}}}}}}};
}

/// The status of a workload that was admitted, with all its GPUs.
inline Json admitted(const std::string& queue, int gpus, const std::string& time, int pods = 1,
                     const std::string& of_flavor = "default") {
  return {{"status",
           {{"conditions", {condition("QuotaReserved", time), condition("Admitted", time)}},
            {"admission",
             {{"clusterQueue", queue},
              {"podSetAssignments",
               {{{"name", "main"},
                 {"count", pods},
                 {"flavors", {{"nvidia.com/gpu", of_flavor}}},
                 {"resourceUsage", {{"nvidia.com/gpu", std::to_string(gpus * pods)}}}}}}}}}}};
}

/// The same, ended.
inline Json finished(const std::string& queue, int gpus, const std::string& from,
                     const std::string& until, const std::string& reason = "Succeeded") {
  Json made = admitted(queue, gpus, from);
  made["status"]["conditions"].push_back(condition("Finished", until, reason));
  return made;
}

inline Json node(const std::string& name, int gpus, Json labels = Json::object()) {
  labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
  const Json size{{"cpu", "128"}, {"memory", "1056Gi"}, {"nvidia.com/gpu", std::to_string(gpus)}};
  return {{"metadata", {{"name", name}, {"labels", std::move(labels)}}},
          {"spec", Json::object()},
          {"status",
           {{"allocatable", size}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

/// Two queues of 8 GPUs in a cohort, or in none, a local queue of each team, and two nodes. The
/// cluster is known as cluster-1.
inline void make_cluster(ApiServer& server, const std::string& cohort = "research") {
  server.create(kKueueApi + "/resourceflavors", flavor("default"));
  server.create(kKueueApi + "/clusterqueues", cluster_queue("team-a", 8, cohort));
  server.create(kKueueApi + "/clusterqueues", cluster_queue("team-b", 8, cohort));
  server.create(in_namespace("a", "localqueues"), local_queue("main", "team-a"));
  server.create(in_namespace("b", "localqueues"), local_queue("main", "team-b"));
  server.create("/api/v1/nodes", node("gpu-1", 8));
  server.create("/api/v1/nodes", node("gpu-2", 8));
  server.create(
      "/api/v1/namespaces",
      {{"metadata", {{"name", "kube-system"}, {"uid", "cluster-1"}}}, {"spec", Json::object()}});
}

}  // namespace almanac::kube
