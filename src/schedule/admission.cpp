// SPDX-License-Identifier: Apache-2.0
#include "schedule/admission.h"

#include <algorithm>

namespace almanac::schedule {
namespace {

constexpr std::uint64_t kAnyType = ~std::uint64_t{0};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

Admission::Admission(const cluster::Cluster& cluster, const Names& names)
    : cluster_(cluster), names_(names), gpu_types_(cluster.gpu_types()) {
  const cluster::Ledger empty(cluster);
  sizes_.resize(cluster.vcs.size());
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    for (const cluster::Pool& pool : empty.pools(VcId{vc})) {
      sizes_[vc].emplace_back(pool.gpu_type,
                              static_cast<int>(pool.nodes.size()) * pool.gpus_per_node);
    }
  }
}

VcId Admission::vc(const trace::Request& request) {
  if (cluster_.takes_every_job) return VcId{0};
  const std::size_t name = index(request.vc);
  if (vc_of_name_.size() <= name) {
    vc_of_name_.resize(name + 1, kNoVc);
    vc_is_known_.resize(name + 1, false);
  }
  if (!vc_is_known_[name]) {
    const std::string_view text = request.vc == kNoName ? cluster::kUnnamedVc : names_[request.vc];
    vc_of_name_[name] = cluster_.find_vc(text);
    vc_is_known_[name] = true;
  }
  return vc_of_name_[name];
}

std::uint64_t Admission::types_of(NameId gpu_type) {
  if (gpu_type == kNoName) return kAnyType;
  const bool untyped = gpu_types_.size() == 1 && gpu_types_[0].empty();
  if (untyped) return kAnyType;
  // "V100|A100": any of these.
  std::uint64_t types = 0;
  std::string_view rest = names_[gpu_type];
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('|'));
    for (std::size_t type = 0; type < gpu_types_.size(); ++type) {
      if (equal_ignoring_case(gpu_types_[type], one)) types |= std::uint64_t{1} << type;
    }
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return types;
}

DemandId Admission::demand(const trace::Request& request) {
  const cluster::Demand wanted{request.gpus, types_of(request.gpu_type)};
  const auto gpus = static_cast<std::size_t>(request.gpus);
  if (wanted.gpu_types == kAnyType && gpus < demand_of_gpus_.size() && demand_of_gpus_[gpus] > 0) {
    return DemandId{demand_of_gpus_[gpus] - 1};
  }
  auto found = std::find(demands_.begin(), demands_.end(), wanted);
  if (found == demands_.end()) found = demands_.insert(demands_.end(), wanted);
  const auto number = static_cast<std::uint32_t>(found - demands_.begin());
  constexpr std::size_t kQuickGpus = 4096;
  if (wanted.gpu_types == kAnyType && gpus < kQuickGpus) {
    if (demand_of_gpus_.size() <= gpus) demand_of_gpus_.resize(gpus + 1, 0);
    demand_of_gpus_[gpus] = number + 1;
  }
  return DemandId{number};
}

std::optional<policy::Reason> Admission::never(VcId vc, DemandId demand) const {
  const cluster::Demand& wanted = demands_[index(demand)];
  if (vc == kNoVc) {
    return policy::Reason{.kind = policy::ReasonKind::unknown_vc, .wanted = wanted.gpus};
  }
  int most = -1;
  for (const auto& [type, gpus] : sizes_[index(vc)]) {
    if ((type & wanted.gpu_types) != 0) most = std::max(most, gpus);
  }
  if (most >= wanted.gpus) return std::nullopt;
  return policy::Reason{
      .kind = most < 0 ? policy::ReasonKind::no_such_gpu : policy::ReasonKind::too_large,
      .wanted = wanted.gpus,
      .available = std::max(0, most)};
}

}  // namespace almanac::schedule
