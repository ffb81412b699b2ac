// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/hived/cell_site.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace almanac::policy {
namespace {

using cells::Decision;
using cluster::CellChain;
using cluster::CellPlan;
using cluster::Grant;

/// The virtual cluster of HiveD that owns nothing.
constexpr const char* kGuests = "(guests)";

/// Nodes that a job may not have, though their cells are free, before it is left to wait.
constexpr int kMostTries = 8;

std::string group_name(JobId job) { return fmt::format("{}", index(job)); }

cells::Request request_of(JobId job, const CellOwner& owner, const CellChain& chain) {
  cells::Request made{.group = group_name(job),
                      .vc = owner.is_guest() ? kGuests : owner.name,
                      .leaf_type = chain.gpu()};
  if (!owner.is_guest()) {
    made.priority = cells::kLeastGuaranteed + owner.priority;
    made.lazy = true;
  }
  return made;
}

/// What it has on each node: whole nodes, and one for the rest.
std::vector<cells::Member> pods_of(const cluster::Demand& demand, int gpus_per_node) {
  std::vector<cells::Member> made;
  const int whole = demand.gpus / gpus_per_node;
  const int rest = demand.gpus % gpus_per_node;
  if (whole > 0) made.push_back({whole, gpus_per_node});
  if (rest > 0) made.push_back({1, rest});
  return made;
}

std::vector<Grant> grants_of(const Decision& decision, const cluster::Demand& demand) {
  std::map<std::uint32_t, Grant> by_node;  // pods may share one
  for (const cells::Pod& pod : decision.pods) {
    const auto node = static_cast<std::uint32_t>(std::stoul(pod.node));
    Grant& grant = by_node.try_emplace(node, Grant{.node = NodeId{node}}).first->second;
    for (const int leaf : pod.leaves) grant.gpus |= cluster::GpuMask{1} << leaf;
  }
  std::vector<Grant> made;
  for (auto& [node, grant] : by_node) {
    const cluster::Amount amount = demand.of(grant.count());
    grant.cpu_milli = amount.cpu_milli;
    grant.memory_mb = amount.memory_mb;
    made.push_back(grant);
  }
  return made;
}

}  // namespace

CellSite::CellSite(CellPlan plan, const std::vector<std::string>& owners,
                   const cluster::Cluster& cluster)
    : plan_(std::move(plan)) {
  const std::vector<std::string> types = cluster.gpu_types();
  for (const CellChain& chain : plan_.chains()) {
    const auto at = std::find(types.begin(), types.end(), chain.gpu_type) - types.begin();
    gpu_types_.push_back(std::uint64_t{1} << at);
  }
  if (plan_.chains().empty()) return;
  cells::Layout layout = plan_.layout();
  const auto is_known_to = [&](const std::string& name) {  // though it own no cell of a chain
    for (const CellChain& chain : plan_.chains()) {
      layout.shares.push_back({.vc = name, .chain = chain.top(), .type = chain.top()});
    }
  };
  is_known_to(kGuests);
  for (const std::string& owner : owners) is_known_to(owner);
  auto made = cells::build(layout);
  ALMANAC_CHECK(made, "{}", made.error().message);
  cells_.emplace(std::move(*made));
}

bool CellSite::place(JobId job, const CellOwner& owner, const cluster::Demand& demand,
                     const Take& take) {
  for (std::size_t at = 0; at < plan_.chains().size(); ++at) {
    if ((gpu_types_[at] & demand.gpu_types) == 0) continue;
    const CellChain& chain = plan_.chains()[at];
    const auto is_in = [&](const std::string& pinned) {
      return place_in(chain, job, owner, pinned, demand, take);
    };
    if (std::any_of(owner.pinned.begin(), owner.pinned.end(), is_in) || is_in("")) return true;
  }
  return false;
}

bool CellSite::place_in(const CellChain& chain, JobId job, const CellOwner& owner,
                        const std::string& pinned, const cluster::Demand& demand,
                        const Take& take) {
  cells::Request request = request_of(job, owner, chain);
  request.pinned = pinned;
  request.members = pods_of(demand, chain.gpus_per_node());
  // If a node lacks cores or memory, or one of its GPUs is out of service, tries others.
  cells::Nodes suggested = cells_->everywhere();
  for (int tries = 0; tries < kMostTries; ++tries) {
    const Decision found = cells_->decide(request, suggested, /*claim=*/false);
    if (found.what != Decision::What::bind && found.what != Decision::What::preempt) return false;
    Offer offer{.grants = grants_of(found, demand)};
    for (const std::string& victim : found.victims) {
      offer.victims.push_back(JobId{static_cast<std::uint32_t>(std::stoul(victim))});
    }
    const NodeId lacks = take(offer);
    if (lacks == kNoNode) {
      for (const std::string& victim : found.victims) cells_->release(victim);
      cells_->allocate(request, found);
      return true;
    }
    suggested[static_cast<std::size_t>(cells_->cluster().find_node(CellPlan::name_of(lacks)))] =
        false;
  }
  return false;
}

bool CellSite::is_one_chain(std::span<const Grant> held) const {
  return cells_ && std::all_of(held.begin(), held.end(), [&](const Grant& grant) {
           return chain_of(grant.node) == chain_of(held.front().node);
         });
}

void CellSite::adopt(JobId job, const CellOwner& owner, std::span<const Grant> held) {
  const auto is_whole = [](const Grant& grant) {
    return grant.gpus != 0 && grant.gpu_milli == cluster::kWholeGpu;
  };
  // Cells do not know parts of GPUs: such a job is in the way as one out of service is.
  if (!cells_ || !std::all_of(held.begin(), held.end(), is_whole)) return;
  const auto at = chain_of(held.front().node);
  ALMANAC_CHECK(at.has_value(), "a job runs on node {}, which has no cells",
                index(held.front().node));
  const CellChain& chain = plan_.chains()[*at];
  cells::Request request = request_of(job, owner, chain);
  Decision decision;
  decision.what = Decision::What::bind;
  decision.chain = chain.top();
  for (const Grant& grant : held) {
    cells::Pod pod{.node = CellPlan::name_of(grant.node)};
    for (int gpu = 0; gpu < chain.gpus_per_node(); ++gpu) {
      if ((grant.gpus >> gpu & 1) != 0) pod.leaves.push_back(gpu);
    }
    request.members.push_back({1, grant.count()});
    pod.owned.resize(pod.leaves.size());
    decision.pods.push_back(std::move(pod));
  }
  const auto allocate_as = [&](const std::string& pinned, const std::string& type) {
    request.pinned = pinned;
    for (cells::Pod& pod : decision.pods) pod.owned.assign(pod.leaves.size(), type);
    cells_->allocate(request, decision);
    if (owner.is_guest() || is_owners(job)) return true;
    cells_->release(request.group);
    return false;
  };
  if (!owner.is_guest()) {
    // Which of its cells it was in is not known: the largest that can be bound to where it runs.
    for (const cluster::CellLevel& level : chain.levels) {
      for (const std::string& pinned : owner.pinned) {
        if (allocate_as(pinned, level.type)) return;
      }
      if (allocate_as("", level.type)) return;
    }
    request = request_of(job, {}, chain);
  }
  allocate_as("", "");
}

void CellSite::release(JobId job) {
  if (cells_) cells_->release(group_name(job));
}

bool CellSite::is_owners(JobId job) const {
  const cells::Group* const group = cells_ ? cells_->find(group_name(job)) : nullptr;
  return group != nullptr && group->owned.has_value();
}

void CellSite::look_at_nodes(const cluster::Ledger& ledger) {
  if (!cells_) return;
  for (std::size_t at = 0; at < plan_.nodes().size(); ++at) {
    cells_->set_healthy(static_cast<int>(at), ledger.ready(plan_.nodes()[at]));
  }
}

std::optional<std::size_t> CellSite::chain_of(NodeId node) const {
  const int number = cells_->cluster().find_node(CellPlan::name_of(node));
  for (std::size_t chain = 0; chain < plan_.chains().size(); ++chain) {
    const auto& tops = cells_->cluster().chains[chain].cells.back();
    const bool has_it = std::any_of(tops.begin(), tops.end(), [&](const cells::Cell* top) {
      return std::find(top->nodes.begin(), top->nodes.end(), number) != top->nodes.end();
    });
    if (has_it) return chain;
  }
  return std::nullopt;
}

}  // namespace almanac::policy
