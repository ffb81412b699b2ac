// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/arrays/array_book.h"

#include <algorithm>
#include <utility>

namespace almanac::policy {
namespace {

using cluster::Demand;
using cluster::Grant;

std::int32_t all_cores(const cluster::NodeClass& make) {
  return make.cpus > 0 ? cluster::cpu_milli(make.cpus) : cluster::kUnbounded;
}

std::int32_t reserved(const cluster::NodeClass& make, std::int32_t reserve_milli) {
  return std::min(all_cores(make), reserve_milli * make.gpus);
}

const cluster::NodeClass& class_of(const Desk& desk, const cluster::VirtualCluster& owner,
                                   std::uint32_t member) {
  const cluster::Cluster& machines = desk.view().cluster;
  return machines.classes[machines.nodes[index(owner.first) + member].node_class];
}

/// What the users of an array compete for.
UserQueues::Totals totals(const Desk& desk, VcId vc, std::int32_t reserve_milli, bool of_cpu_jobs) {
  const cluster::VirtualCluster& owner = desk.view().cluster.vcs[index(vc)];
  UserQueues::Totals sum{};
  for (std::uint32_t member = 0; member < owner.num_nodes; ++member) {
    const cluster::NodeClass& make = class_of(desk, owner, member);
    const std::int32_t gpu_array = reserved(make, reserve_milli);
    sum[0] += of_cpu_jobs ? 0 : make.gpus * cluster::kWholeGpu;
    sum[1] += of_cpu_jobs ? all_cores(make) - gpu_array : gpu_array;
    sum[2] += cluster::memory_mb(make.memory_gb);
  }
  return sum;
}

}  // namespace

ArrayBook::ArrayBook(const Desk& desk, VcId vc, std::int32_t reserve_milli)
    : first_(static_cast<std::uint32_t>(index(desk.view().cluster.vcs[index(vc)].first))),
      nodes_(desk.view().cluster.vcs[index(vc)].num_nodes),
      gpu_jobs_(totals(desk, vc, reserve_milli, false)),
      cpu_jobs_(totals(desk, vc, reserve_milli, true)),
      plain_(static_cast<std::uint32_t>(nodes_.size())),
      own_(plain_),
      idle_(plain_),
      right_(plain_) {
  for (std::uint32_t member = 0; member < nodes_.size(); ++member) {
    const cluster::NodeClass& make = class_of(desk, desk.view().cluster.vcs[index(vc)], member);
    nodes_[member].has_gpus = make.gpus > 0;
    nodes_[member].array = all_cores(make) - reserved(make, reserve_milli);
  }
}

std::vector<NodeId> ArrayBook::lending() const {
  std::vector<NodeId> found;
  for (const std::uint32_t member : lending_) found.push_back(node_of(member));
  return found;
}

void ArrayBook::file(std::uint32_t member, const cluster::Ledger& ledger) {
  const NodeState& node = nodes_[member];
  const cluster::Amount room = ledger.room(node_of(member));
  if (ledger.drained(node_of(member)) || ledger.power(node_of(member)) != cluster::Power::on) {
    for (cluster::RoomSet* rooms : {&plain_, &own_, &idle_, &right_}) rooms->erase(member);
    lending_.erase(member);
    return;
  }
  const std::int32_t right = node.array - node.used;
  idle_.insert(member, {room.cpu_milli, room.memory_mb});
  (node.has_gpus ? own_ : plain_).insert(member, {std::min(right, room.cpu_milli), room.memory_mb});
  right_.insert(member, {right, room.memory_mb});
  if (node.lends()) {
    lending_.insert(member);
  } else {
    lending_.erase(member);
  }
}

void ArrayBook::file_all(const cluster::Ledger& ledger) {
  for (std::uint32_t member = 0; member < nodes_.size(); ++member) file(member, ledger);
}

void ArrayBook::enter(JobId job, std::span<const Grant> grants, const cluster::Ledger& ledger) {
  for (const Grant& grant : grants) {
    NodeState& node = nodes_[member_of(grant.node)];
    if (grant.gpus == 0) node.cpu_jobs.push_back({job, grant.cpu_milli, 0});
    if (grant.gpus != 0 && grants.size() == 1) {
      node.gpu_jobs.push_back({job, grant.cpu_milli, grant.count()});
    }
    file(grant.node, ledger);
  }
}

void ArrayBook::leave(JobId job, std::span<const Grant> grants, const cluster::Ledger& ledger) {
  for (const Grant& grant : grants) {
    NodeState& node = nodes_[member_of(grant.node)];
    for (const Tenant& each : node.cpu_jobs) {
      if (each.job == job) node.used -= each.cpu_milli;
    }
    for (std::vector<Tenant>* tenants : {&node.cpu_jobs, &node.gpu_jobs}) {
      std::erase_if(*tenants, [&](const Tenant& each) { return each.job == job; });
    }
    file(grant.node, ledger);
  }
}

void ArrayBook::look_at(NodeId id, Desk& desk) {
  NodeState& node = nodes_[member_of(id)];
  node.used = 0;
  for (Tenant& tenant : node.cpu_jobs) {
    for (const Grant& grant : desk.grants(tenant.job)) {
      if (grant.node == id) tenant.cpu_milli = grant.cpu_milli;
    }
    node.used += tenant.cpu_milli;
  }
  file(id, desk.ledger());
  const cluster::Amount room = desk.ledger().room(id);
  const int open = desk.ledger().open_milli(id);
  const std::int32_t lent = node.lends() ? node.used : 0;
  gpu_jobs_.wake([&](const Demand& least) {
    const bool has_gpu = room.gpus > 0 || (least.is_part() && open >= least.gpu_milli);
    return has_gpu && room.cpu_milli + lent >= least.cpu_milli;
  });
  const std::int32_t right = std::max(room.cpu_milli, node.array - node.used);
  cpu_jobs_.wake([&](const Demand& least) {
    return right >= least.cpu_milli && room.memory_mb >= least.memory_mb;
  });
}

}  // namespace almanac::policy
