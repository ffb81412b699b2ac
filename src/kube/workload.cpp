// SPDX-License-Identifier: Apache-2.0
#include "kube/workload.h"

#include <algorithm>

#include "kueue/multiply.h"
#include "kueue/quantity.h"

namespace almanac::kube {

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::pending:
      return "pending";
    case Stage::reserved:
      return "reserved";
    case Stage::admitted:
      return "admitted";
    case Stage::finished:
      return "finished";
  }
  return "";
}

kueue::Amount Workload::total(const std::string& resource) const {
  kueue::Amount made = 0;
  for (const PodSet& each : pod_sets) {
    const auto found = each.pods.requests.find(resource);
    if (found == each.pods.requests.end()) continue;
    int count = each.pods.count;
    for (const Assigned& of : assigned) {
      if (of.pod_set == each.pods.name) count = of.count;
    }
    made = std::min(made + kueue::times(found->second, std::max(0, count - each.reclaimable)),
                    kueue::kMostAmount);
  }
  return made;
}

std::int64_t Workload::gpus() const {
  std::map<std::string, bool> resources;
  for (const PodSet& each : pod_sets) {
    for (const auto& [name, amount] : each.pods.requests) resources[name] = kueue::is_gpu(name);
  }
  std::int64_t made = 0;
  for (const auto& [name, counts] : resources) {
    if (counts) made = std::min(made + total(name), kueue::kMostAmount);
  }
  return made;
}

std::int64_t Node::gpus() const {
  std::int64_t made = 0;
  for (const auto& [name, amount] : allocatable) made += kueue::is_gpu(name) ? amount : 0;
  return made;
}

std::string Node::product() const {
  for (const char* const label :
       {"nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator"}) {
    if (const auto found = labels.find(label); found != labels.end()) return found->second;
  }
  return "";
}

bool is_other_accelerator(std::string_view resource) {
  if (kueue::is_gpu(resource)) return false;
  for (const std::string_view part :
       {"/mig-", "/gpu.", "/tpu", "/neuron", "/gaudi", "gpu.intel.com/"}) {
    if (resource.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool suits(const std::vector<std::vector<Requirement>>& affinity,
           const std::map<std::string, std::string>& labels) {
  const auto holds = [&](const Requirement& each) {
    const auto label = labels.find(each.key);
    if (label == labels.end()) return true;
    const bool is_named =
        std::find(each.values.begin(), each.values.end(), label->second) != each.values.end();
    if (each.op == "In") return is_named;
    if (each.op == "NotIn") return !is_named;
    return each.op != "DoesNotExist";
  };
  return affinity.empty() || std::any_of(affinity.begin(), affinity.end(), [&](const auto& term) {
           return std::all_of(term.begin(), term.end(), holds);
         });
}

}  // namespace almanac::kube
