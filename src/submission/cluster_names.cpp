// SPDX-License-Identifier: Apache-2.0
#include "submission/cluster_names.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::submission {
namespace {

auto refuse(std::string message, std::string hint) {
  return fail(Code::usage, std::move(message), {}, std::move(hint));
}

template <typename Named>
std::string names_of(const std::vector<Named>& list) {
  std::vector<std::string_view> names;
  for (const Named& each : list) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<void> check_vc(const std::string& vc, const cluster::Cluster& cluster) {
  if (cluster.takes_every_job || (vc.empty() && cluster.vcs.size() == 1)) return {};
  if (cluster.find_vc_of_jobs(vc.empty() ? cluster::kUnnamedVc : vc) != kNoVc) return {};
  return refuse(vc.empty() ? std::string("the job names no virtual cluster")
                           : fmt::format("no virtual cluster is named {} here", vc),
                fmt::format("use one of {}", names_of(cluster.vcs)));
}

Result<void> check_qos(const store::Submission& asked, const cluster::Cluster& cluster) {
  if (asked.qos.empty() || cluster.qos.empty()) return {};
  const cluster::Qos* const found = cluster.find_qos(asked.qos);
  if (found == nullptr) {
    return refuse(fmt::format("no QOS is named {} here", asked.qos),
                  fmt::format("use one of {}", names_of(cluster.qos)));
  }
  const bool may = found->users.empty() || std::find(found->users.begin(), found->users.end(),
                                                     asked.user) != found->users.end();
  if (may) return {};
  return refuse(fmt::format("user {} may not use QOS {}", asked.user, asked.qos),
                "the service's cluster file lists the users of each QOS");
}

Result<void> check_gpu_type(const std::string& wanted, const cluster::Cluster& cluster) {
  if (wanted.empty()) return {};
  std::set<std::string> types;
  for (const std::string& each : cluster.gpu_types()) {
    if (!each.empty()) types.insert(each);
  }
  if (std::any_of(types.begin(), types.end(),
                  [&](const auto& type) { return cluster::is_one_of(type, wanted); })) {
    return {};
  }
  return refuse(fmt::format("no node has GPUs of type {}", wanted),
                types.empty() ? "no node states a GPU type: omit --gpu-type, or set gpu_type in "
                                "the service's cluster file"
                              : fmt::format("use one of {}", fmt::join(types, ", ")));
}

}  // namespace

Result<void> check_names(const store::Submission& asked, const cluster::Cluster& cluster) {
  if (auto checked = check_vc(asked.vc, cluster); !checked) return checked;
  if (auto checked = check_qos(asked, cluster); !checked) return checked;
  return check_gpu_type(asked.gpu_type, cluster);
}

std::vector<std::string> notes_on_labels(const store::Submission& asked,
                                         const cluster::Cluster& cluster) {
  std::vector<std::string> notes;
  if (!asked.vc.empty() && cluster.takes_every_job && cluster.find_vc(asked.vc) == kNoVc &&
      cluster.find_tenant(asked.vc) == kNoTenant) {
    notes.push_back(fmt::format(
        "virtual cluster {} is only a label: this service has no virtual clusters", asked.vc));
  }
  if (!asked.qos.empty() && cluster.qos.empty()) {
    notes.push_back(fmt::format("QOS {} is only a label: this service has no QOS", asked.qos));
  }
  return notes;
}

}  // namespace almanac::submission
