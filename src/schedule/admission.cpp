// SPDX-License-Identifier: Apache-2.0
#include "schedule/admission.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "cluster/nvlink_domains.h"
#include "cluster/slices/part.h"
#include "trace/alternative.h"

namespace almanac::schedule {
namespace {

constexpr std::uint64_t kAnyType = ~std::uint64_t{0};

}  // namespace

std::int32_t gpu_milli(const trace::Request& request) {
  const auto milli = std::lround(request.gpu_part() * cluster::kWholeGpu);
  return static_cast<std::int32_t>(std::max(1L, milli));
}

Admission::Admission(const cluster::Cluster& cluster, const Names& names)
    : cluster_(cluster),
      names_(names),
      gpu_kinds_(cluster.gpu_kinds()),
      domains_(cluster::nvlink_domains(cluster)),
      has_tiers_(cluster.has_tiers()) {
  const cluster::Ledger empty(cluster);
  sizes_.resize(cluster.vcs.size());
  counts_.resize(cluster.vcs.size(), false);
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    for (const cluster::Pool& pool : empty.pools(VcId{vc})) {
      sizes_[vc].push_back({.gpu_type = pool.gpu_type,
                            .nodes = static_cast<int>(pool.nodes.size()),
                            .gpus_per_node = pool.gpus_per_node,
                            .cpu_milli = pool.cpu_milli,
                            .memory_mb = pool.memory_mb,
                            .board = pool.board});
      if (!pool.rooms.empty()) counts_[vc] = true;
    }
  }
  has_kinds_ = std::any_of(gpu_kinds_.begin(), gpu_kinds_.end(), [](const auto& kind) {
    return kind.sharing != cluster::Sharing::parts || kind.memory_gb > 0;
  });
}

VcId Admission::vc(const trace::Request& request) {
  if (cluster_.takes_every_job) return VcId{0};
  const std::size_t name = index(request.vc);
  if (vc_of_name_.size() <= name) {
    vc_of_name_.resize(name + 1, kNoVc);
    vc_is_known_.resize(name + 1, false);
  }
  if (!vc_is_known_[name]) {
    if (request.vc == kNoName && cluster_.vcs.size() == 1) {
      vc_of_name_[name] = VcId{0};  // there is no other
    } else {
      vc_of_name_[name] = cluster_.find_vc_of_jobs(request.vc == kNoName ? cluster::kUnnamedVc
                                                                         : names_[request.vc]);
    }
    vc_is_known_[name] = true;
  }
  return vc_of_name_[name];
}

TenantId Admission::named_tenant(const trace::Request& request) const {
  const TenantId named = cluster_.find_tenant(names_[request.vc]);
  return named != kNoTenant ? named : cluster_.find_tenant(names_[request.user]);
}

template <class Suits>
std::uint64_t Admission::kinds_with(const Suits& suits) const {
  std::uint64_t kinds = 0;
  for (std::size_t kind = 0; kind < gpu_kinds_.size(); ++kind) {
    if (suits(gpu_kinds_[kind])) kinds |= std::uint64_t{1} << kind;
  }
  return kinds;
}

std::uint64_t Admission::types_of(std::string_view wanted) const {
  const bool untyped = std::all_of(gpu_kinds_.begin(), gpu_kinds_.end(),
                                   [](const auto& kind) { return kind.type.empty(); });
  if (wanted.empty() || untyped) return kAnyType;
  return kinds_with([&](const auto& kind) { return cluster::is_one_of(kind.type, wanted); });
}

std::uint64_t Admission::types_of(NameId wanted) {
  const std::size_t name = index(wanted);
  if (types_of_name_.size() <= name) types_of_name_.resize(name + 1);
  std::optional<std::uint64_t>& types = types_of_name_[name];
  if (!types) types = types_of(names_[wanted]);
  return *types;
}

Admission::Share Admission::usual_share(VcId vc, std::uint64_t types) const {
  // What most of its nodes of these types have.
  const Size* most = nullptr;
  for (const Size& size : sizes_[index(vc)]) {
    if (size.gpus_per_node == 0 || (size.gpu_type & types) == 0) continue;
    if (most == nullptr || size.nodes > most->nodes) most = &size;
  }
  if (most == nullptr) return {};
  const auto share = [&](std::int32_t amount) {
    return amount == cluster::kUnbounded ? 0 : amount / most->gpus_per_node;
  };
  return {share(most->cpu_milli), share(most->memory_mb)};
}

namespace {

/// The profile of that name on GPUs of a kind; null = they have none.
const slices::Profile* profile_on(const cluster::Cluster::GpuKind& kind, slices::ProfileId id) {
  if (kind.board == nullptr) return nullptr;
  const int at = slices::position(*kind.board, id);
  return at < 0 ? nullptr : &(*kind.board)[at];
}

}  // namespace

void Admission::ask_instance(std::string_view name, cluster::Demand& wanted) const {
  wanted.profile = slices::profile_id(name).value_or(slices::kNoProfile);
  std::int32_t least = cluster::kWholeGpu;
  const std::uint64_t boards =
      wanted.gpu_types & kinds_with([&](const auto& kind) {
        const slices::Profile* const own = profile_on(kind, wanted.profile);
        if (own != nullptr) {
          least = std::min(least, cluster::kWholeGpu * own->memory / kind.board->memory);
        }
        return own != nullptr;
      });
  const std::uint64_t standing =
      wanted.gpu_types & kinds_with([&](const auto& kind) {
        return kind.board == nullptr && cluster::is_one_of(kind.type, name);
      });
  if (boards == 0 && standing != 0) {
    wanted.gpu_types = standing;
    wanted.profile = slices::kNoProfile;
    return;
  }
  wanted.gpu_types = boards;
  wanted.gpu_milli = least;
  // All of a board is a GPU.
  if (wanted.gpu_types != 0 && least == cluster::kWholeGpu) wanted.profile = slices::kNoProfile;
}

void Admission::keep_off(const trace::Request& request, cluster::Demand& wanted) const {
  if (!std::isnan(request.gpu_memory_gb)) {
    wanted.gpu_memory_mb = cluster::memory_mb(request.gpu_memory_gb);
    wanted.gpu_types &= kinds_with([&](const auto& kind) {
      const slices::Profile* const own = profile_on(kind, wanted.profile);
      const double has = own != nullptr ? own->memory_gib : kind.memory_gb;
      return has == 0 || request.gpu_memory_gb <= static_cast<float>(has);
    });
    // An instance has what it has.
    if (wanted.profile != slices::kNoProfile && wanted.gpu_types != 0) wanted.gpu_memory_mb = 0;
  }
  if (wanted.is_part() && wanted.profile == slices::kNoProfile) {
    wanted.gpu_types &=
        kinds_with([](const auto& kind) { return kind.sharing != cluster::Sharing::mig; });
  }
}

policy::Reason Admission::why_on_no_kind(VcId vc, const cluster::Demand& wanted) const {
  using policy::ReasonKind;
  const slices::Board* board = nullptr;
  bool has_whole = false;
  bool has_profile = false;
  for (const Size& size : sizes_[index(vc)]) {
    const auto& kind = gpu_kinds_[static_cast<std::size_t>(std::countr_zero(size.gpu_type))];
    if (board == nullptr) board = kind.board;
    has_profile = has_profile || profile_on(kind, wanted.profile) != nullptr;
    has_whole = has_whole || (size.gpus_per_node > 0 && kind.board == nullptr);
  }
  policy::Reason reason{.kind = ReasonKind::no_such_gpu, .wanted = wanted.gpus};
  const bool asks_instance = wanted.profile != slices::kNoProfile;
  if (wanted.gpu_memory_mb > 0 && (has_profile || !asks_instance)) {
    reason.kind = ReasonKind::gpu_memory_too_small;
    reason.wanted = wanted.gpu_memory_mb;
  } else if (asks_instance) {
    reason.kind = ReasonKind::no_such_instance;
    reason.profile = wanted.profile;
    reason.board = board;
  } else if (wanted.is_part() && board != nullptr && !has_whole) {
    reason.kind = ReasonKind::not_in_thousandths;
  }
  return reason;
}

DemandId Admission::demand(const trace::Request& request, VcId vc, ClaimId claim) {
  return demand(request, types_of(request.gpu_type), vc, claim);
}

std::int32_t Admission::part(const trace::Request& request, VcId vc) {
  if (request.gpu_profile == kNoName) return gpu_milli(request);
  const cluster::Demand& wanted = demands_[demand(request, vc)];
  if (wanted.profile != slices::kNoProfile) return wanted.gpu_milli;
  // To its node it is a GPU.
  const double part = slices::least_part(names_[request.gpu_profile]);
  return static_cast<std::int32_t>(std::lround(part * cluster::kWholeGpu));
}

std::vector<policy::Acceptable> Admission::acceptable(const trace::Request& request, VcId vc,
                                                      ClaimId claim, policy::Quotas* quotas) {
  std::vector<policy::Acceptable> made;
  const auto add = [&](const trace::Request& wanted, std::string_view gpu_type, double rate) {
    const ClaimId own = quotas == nullptr ? claim : quotas->sized(claim, wanted.gpus);
    const DemandId id = demand(wanted, types_of(gpu_type), vc, own);
    if (!never(vc, id)) made.push_back({id, static_cast<float>(rate)});
  };
  add(request, names_[request.gpu_type], 1);
  const auto alternatives = trace::parse_alternatives(names_[request.alternatives]).value();
  for (const trace::Alternative& each : alternatives) {
    trace::Request wanted = request;
    wanted.gpus = each.gpus;
    wanted.gpu_share = 1;
    if (each.gpus == 0) wanted.cpus = each.cpus;
    add(wanted, each.gpu_type, each.rate);
  }
  return made;
}

DemandId Admission::demand(const trace::Request& request, std::uint64_t types, VcId vc,
                           ClaimId claim) {
  cluster::Demand wanted{.gpus = request.gpus};
  wanted.claim = claim;
  if (wanted.is_cpu_job()) {
    wanted.tasks = std::max(1, request.nodes);
  } else {
    wanted.gpu_types = types;
    if (request.gpu_profile == kNoName) {
      wanted.gpu_milli = gpu_milli(request);
    } else {
      ask_instance(names_[request.gpu_profile], wanted);
    }
    if (has_kinds_) keep_off(request, wanted);
    if (request.nvlink_gpus > 1) wanted.nvlink_gpus = request.nvlink_gpus;
  }
  if (vc != kNoVc && counts_[index(vc)]) {
    const Share share = wanted.is_cpu_job()
                            ? Share{.cpu_milli = 1000}
                            : usual_share(vc, wanted.gpu_types).of(wanted.gpu_milli);
    const auto each = [&](float asked, auto in_units, std::int32_t missing) {
      if (std::isnan(asked)) return missing;
      const std::int32_t in_thousandths = in_units(asked);
      // Rounded down, so that jobs that together ask all of a node fit on it.
      const std::int32_t unit =
          std::max(in_thousandths / wanted.units(), std::min(in_thousandths, 1));
      // No node has as much: what all units of a node need together stays within the numbers.
      return std::min(unit, cluster::kUnbounded / cluster::kMaxGpusPerNode);
    };
    wanted.cpu_milli = each(request.cpus, cluster::cpu_milli, share.cpu_milli);
    wanted.memory_mb = each(request.memory_gb, cluster::memory_mb, share.memory_mb);
  }
  return demands_.id_of(wanted);
}

std::int64_t Admission::most_tasks(VcId vc, const cluster::Demand& wanted) const {
  std::int64_t tasks = 0;
  for (const Size& size : sizes_[index(vc)]) {
    if ((size.gpu_type & wanted.gpu_types) == 0) continue;
    std::int64_t on_node = wanted.tasks;
    if (wanted.cpu_milli > 0) {
      on_node = std::min<std::int64_t>(on_node, size.cpu_milli / wanted.cpu_milli);
    }
    if (wanted.memory_mb > 0) {
      on_node = std::min<std::int64_t>(on_node, size.memory_mb / wanted.memory_mb);
    }
    tasks += size.nodes * on_node;
  }
  return tasks;
}

std::optional<policy::Reason> Admission::never(VcId vc, DemandId demand) const {
  const cluster::Demand& wanted = demands_[demand];
  std::optional<policy::Reason> reason = never_by_size(vc, wanted);
  if (reason || wanted.nvlink_gpus == 0) return reason;
  const int gpus = gpus_in_groups(vc, wanted);
  if (gpus >= wanted.gpus) return std::nullopt;
  return policy::Reason{
      .kind = policy::ReasonKind::nvlink_too_large, .wanted = wanted.gpus, .available = gpus};
}

int Admission::gpus_in_groups(VcId vc, const cluster::Demand& wanted) const {
  std::map<std::pair<std::uint64_t, NodeId>, int> in_domain;  // of each type
  std::map<std::uint64_t, int> in_groups;                     // of each type
  int most = 0;
  const cluster::VirtualCluster& home = cluster_.vcs[index(vc)];
  for (std::uint32_t offset = 0; offset < home.num_nodes && most < wanted.gpus; ++offset) {
    const NodeId node{static_cast<std::uint32_t>(index(home.first)) + offset};
    const cluster::NodeClass& make = cluster_.classes[cluster_.nodes[index(node)].node_class];
    const auto kind = std::find(gpu_kinds_.begin(), gpu_kinds_.end(), cluster_.kind_of(make));
    const std::uint64_t type = std::uint64_t{1} << (kind - gpu_kinds_.begin());
    if ((type & wanted.gpu_types) == 0) continue;
    int gpus = make.gpus;
    const auto within = [&](double has, std::int32_t amount, std::int32_t each) {
      if (has > 0 && each > 0) gpus = std::min(gpus, amount / each);
    };
    within(make.cpus, cluster::cpu_milli(make.cpus), wanted.cpu_milli);
    within(make.memory_gb, cluster::memory_mb(make.memory_gb), wanted.memory_mb);
    int& domain = in_domain[{type, domains_.empty() ? node : domains_[index(node)]}];
    int& grouped = in_groups[type];
    grouped -= domain - domain % wanted.nvlink_gpus;
    domain += gpus;
    grouped += domain - domain % wanted.nvlink_gpus;
    most = std::max(most, grouped);
  }
  return most;
}

std::optional<policy::Reason> Admission::never_by_size(VcId vc,
                                                       const cluster::Demand& wanted) const {
  using policy::ReasonKind;
  if (vc == kNoVc) return policy::Reason{.kind = ReasonKind::unknown_vc, .wanted = wanted.gpus};
  if (wanted.is_cpu_job()) {
    if (most_tasks(vc, wanted) >= wanted.tasks) return std::nullopt;
    return policy::Reason{.kind = ReasonKind::too_many_cores};
  }
  // Nearly every job fits one kind of nodes.
  for (const Size& size : sizes_[index(vc)]) {
    if ((size.gpu_type & wanted.gpu_types) != 0 && size.gpus_with_room(wanted) >= wanted.gpus) {
      return std::nullopt;
    }
  }
  int most = -1;
  bool too_many_cores = false;
  for (std::size_t type = 0; type < gpu_kinds_.size(); ++type) {
    const std::uint64_t bit = std::uint64_t{1} << type;
    if ((bit & wanted.gpu_types) == 0) continue;
    int gpus = 0;
    int with_cores = 0;
    for (const Size& size : sizes_[index(vc)]) {
      if (size.gpu_type != bit) continue;
      const int each = wanted.profile == slices::kNoProfile ? 1 : size.instances(wanted.profile);
      most = std::max(most, gpus += size.nodes * size.gpus_per_node * each);
      with_cores += size.gpus_with_room(wanted);
    }
    if (with_cores >= wanted.gpus) return std::nullopt;
    too_many_cores = too_many_cores || gpus >= wanted.gpus;
  }
  if (most < 0 && (has_kinds_ || wanted.profile != slices::kNoProfile)) {
    return why_on_no_kind(vc, wanted);
  }
  if (too_many_cores) return policy::Reason{.kind = ReasonKind::too_many_cores};
  return policy::Reason{.kind = most < 0 ? ReasonKind::no_such_gpu : ReasonKind::too_large,
                        .wanted = wanted.gpus,
                        .available = std::max(0, most)};
}

}  // namespace almanac::schedule
