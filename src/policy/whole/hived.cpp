// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tenants own cells - nodes, sockets, halves of these, GPUs - wherever these are, and no tenant
/// makes another wait for its own (HiveD). The published scheduler (cells/scheduler.h) says which
/// GPUs a job gets.
///
/// A tenant without tenants below it owns, of each kind of nodes, the part that its guarantee is of
/// all GPUs: as many whole nodes as that gives, then sockets, halves and GPUs; of guarantees that
/// come to more than there is, all have as much less. What a job has on a node lies in one cell. A
/// job of a tenant goes into its cells if they have room, and what guests hold there gives way. Any
/// other job is a guest: it runs on what is free, and is stopped for an owner. Jobs are tried in
/// the order in which they came, owners before guests; one that does not fit is passed by others.
///
/// While all nodes are in service, a job that fits what is free of its tenant's own cells starts at
/// once. Cells know GPUs only: where cores, memory or the quota of an account are short a job
/// waits, whatever its tenant owns.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
/// Differs  Whether a job is a guest is not its user's word: it is one if its tenant's cells have
///          no room when it starts, and stays one until it is stopped. No job is preempted for
///          another of its own tenant. Racks are no cells. A job that asks a part of a GPU gets one
///          whole. A policy that begins anew takes a job that runs for an owner's where that
///          tenant's cells can be bound to it, else for a guest.
/// Cost     O(n) a decision with n jobs that wait, and for each demand among them a search of all
///          nodes: it is for some thousand of these.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "cells/scheduler.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

using cluster::Grant;
using What = cells::Decision::What;

/// The virtual cluster of HiveD that owns nothing.
constexpr const char* kGuests = "(guests)";

/// Cells of one size within a node.
struct Level {
  std::string type{};
  int gpus = 0;
};

/// Nodes that are alike: a chain of cells.
struct Kind {
  std::vector<Level> levels{};  ///< From the node down to the GPU.
  std::uint64_t gpu_type = 0;   ///< One bit.

  const std::string& node() const { return levels.front().type; }
  const std::string& gpu() const { return levels.back().type; }
  int gpus_per_node() const { return levels.front().gpus; }
};

/// A virtual cluster of ours, whose nodes its tenants share.
struct Site {
  std::vector<Kind> kinds{};
  std::unique_ptr<cells::Scheduler> cells{};
  std::vector<NodeId> nodes{};   ///< By number of cells::Cluster.
  std::vector<JobId> waiting{};  ///< In order of coming.
};

class Hived final : public Policy {
 public:
  explicit Hived(std::unique_ptr<Placement> placement) : placement_(std::move(placement)) {}

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    if (sites_.empty()) open(view, plan.ledger);
    for (const Event& event : events) take_in(event, view, plan.ledger);
    for (const JobId job : stopped_) queue(job, view);
    stopped_.clear();
    for (std::uint32_t vc = 0; vc < sites_.size(); ++vc) serve(VcId{vc}, view, plan);
    look_at_quotas(view, plan);
    if (!stopped_.empty()) plan.wake(view.now);
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const Progress& state = view.progress(job);
    const cluster::Demand& demand = view.demand(state.demand);
    if (aside_.contains(job)) return {.kind = ReasonKind::at_quota, .wanted = demand.gpus};
    Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(state.vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    for (const Site& site : sites_) {
      std::copy_if(site.waiting.begin(), site.waiting.end(), std::back_inserter(line),
                   [&](JobId job) { return !aside_.contains(job); });
    }
  }

 private:
  /// Nodes that a job may not have, though their cells are free, before it is left to wait.
  static constexpr int kMostTries = 8;

  void open(const View& view, const cluster::Ledger& ledger) {
    const cluster::Cluster& cluster = view.cluster;
    std::set<std::int32_t> parents;
    double owed = 0;
    for (const cluster::Tenant& tenant : cluster.tenants) parents.insert(tenant.parent);
    for (std::size_t at = 0; at < cluster.tenants.size(); ++at) {
      if (parents.contains(static_cast<std::int32_t>(at))) continue;
      owners_.emplace_back(at, cluster.tenants[at].guarantee);
      owed += cluster.tenants[at].guarantee;
    }
    int gpus = 0;
    sites_.resize(cluster.vcs.size());
    for (std::uint32_t vc = 0; vc < sites_.size(); ++vc) {
      for (const cluster::Pool& pool : ledger.pools(VcId{vc})) gpus += gpus_of(pool);
    }
    for (auto& [tenant, part] : owners_) part /= std::max({1.0, owed, static_cast<double>(gpus)});
    for (std::uint32_t vc = 0; vc < sites_.size(); ++vc) {
      build(sites_[vc], ledger.pools(VcId{vc}));
      look_at_nodes(sites_[vc], ledger);
    }
  }

  void build(Site& site, std::span<const cluster::Pool> pools) {
    cells::Layout layout;
    for (const cluster::Pool& pool : pools) {
      if (pool.gpus_per_node == 0 || pool.nodes.empty()) continue;
      const Kind kind = kind_of(pool, site.kinds.size());
      site.kinds.push_back(kind);
      for (std::size_t at = 0; at + 1 < kind.levels.size(); ++at) {
        const Level& each = kind.levels[at];
        const Level& within = kind.levels[at + 1];
        layout.types.push_back({.name = each.type,
                                .child = within.type,
                                .children = each.gpus / within.gpus,
                                .node = at == 0});
      }
      for (const NodeId node : pool.nodes) {
        layout.places.push_back(place_of(kind, 0, node, 0));
        site.nodes.push_back(node);
      }
      layout.shares.push_back({.vc = kGuests, .chain = kind.node(), .type = kind.node()});
      for (const auto& [tenant, part] : owners_) {
        // Its part is rounded, and must not lose a GPU by that.
        add_shares(layout, kind, owner_name(tenant), static_cast<int>(part * gpus_of(pool) + 1e-6));
      }
    }
    if (site.kinds.empty()) return;
    auto made = cells::build(layout);
    ALMANAC_CHECK(made, "{}", made.error().message);
    site.cells = std::make_unique<cells::Scheduler>(std::move(*made));
  }

  static int gpus_of(const cluster::Pool& pool) {
    return pool.gpus_per_node * static_cast<int>(pool.nodes.size());
  }

  /// A node is made of its sockets, and those, as far as they can be halved, of halves.
  static Kind kind_of(const cluster::Pool& pool, std::size_t number) {
    Kind made{.gpu_type = pool.gpu_type};
    const auto add = [&](int gpus) {
      made.levels.push_back({fmt::format("kind{}:{}", number, gpus), gpus});
    };
    int gpus = pool.gpus_per_node;
    add(gpus);
    if (pool.sockets > 1 && gpus % pool.sockets == 0 && gpus > pool.sockets) {
      add(gpus /= pool.sockets);
    }
    while (gpus % 2 == 0 && gpus > 2) add(gpus /= 2);
    // A node of one GPU is a cell of one.
    if (gpus > 1 || made.levels.size() == 1)
      made.levels.push_back({fmt::format("gpu{}", number), 1});
    return made;
  }

  /// A cell of `level` whose GPUs are those of `node` from `first` on.
  static cells::Place place_of(const Kind& kind, std::size_t level, NodeId node, int first) {
    cells::Place made{.type = kind.levels[level].type};
    if (level + 1 == kind.levels.size()) {
      made.node = name_of(node);
      made.leaf = first;
      return made;
    }
    const int end = first + kind.levels[level].gpus;
    for (int gpu = first; gpu < end; gpu += kind.levels[level + 1].gpus) {
      made.within.push_back(place_of(kind, level + 1, node, gpu));
    }
    return made;
  }

  static void add_shares(cells::Layout& layout, const Kind& kind, const std::string& owner,
                         int gpus) {
    for (const Level& each : kind.levels) {
      layout.shares.push_back(
          {.vc = owner, .chain = kind.node(), .type = each.type, .cells = gpus / each.gpus});
      gpus %= each.gpus;
    }
  }

  static std::string owner_name(std::size_t tenant) { return fmt::format("tenant{}", tenant); }
  static std::string name_of(NodeId node) { return fmt::format("{}", index(node)); }
  static std::string group_name(JobId job) { return fmt::format("{}", index(job)); }
  static JobId job_of(const std::string& group) {
    return JobId{static_cast<std::uint32_t>(std::stoul(group))};
  }

  static void look_at_nodes(Site& site, const cluster::Ledger& ledger) {
    if (!site.cells) return;
    for (std::size_t at = 0; at < site.nodes.size(); ++at) {
      site.cells->set_healthy(static_cast<int>(at), ledger.ready(site.nodes[at]));
    }
  }

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
        queue(job, view);
        break;
      case EventKind::job_adopted:
        adopt(job, view);
        break;
      case EventKind::job_failed:
        release(job, view);
        queue(job, view);
        break;
      case EventKind::job_ended:
        release(job, view);
        break;
      case EventKind::job_withdrawn:
        std::erase(site_of(job, view).waiting, job);
        break;
      case EventKind::capacity_changed:
      case EventKind::node_down:
      case EventKind::node_up:
        for (Site& site : sites_) look_at_nodes(site, ledger);
        break;
      case EventKind::job_released:
      case EventKind::job_reported:
      case EventKind::node_notice:
      case EventKind::signal_changed:
      case EventKind::timer:
        break;
    }
  }

  Site& site_of(JobId job, const View& view) { return sites_[index(view.progress(job).vc)]; }

  void queue(JobId job, const View& view) {
    std::vector<JobId>& waiting = site_of(job, view).waiting;
    const auto came_later = [&](JobId a, JobId b) {
      return std::pair(view.request(a).submit, a) < std::pair(view.request(b).submit, b);
    };
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), job, came_later), job);
  }

  void release(JobId job, const View& view) {
    if (const auto& cells = site_of(job, view).cells) cells->release(group_name(job));
  }

  void serve(VcId vc, const View& view, Plan& plan) {
    Site& site = sites_[index(vc)];
    for (const bool as_owner : {true, false}) {
      std::set<std::pair<std::string, DemandId>> in_vain;
      std::vector<JobId> left;
      for (const JobId job : std::exchange(site.waiting, {})) {
        const std::string owner = as_owner ? owner_of(job, view) : kGuests;
        const auto tried = std::pair(owner, view.progress(job).demand);
        const bool may_start = !owner.empty() && !in_vain.contains(tried) &&
                               view.held_until(job) <= view.now && has_quota(job, view, plan);
        if (may_start && start(vc, job, owner, view, plan)) continue;
        if (may_start) in_vain.insert(tried);
        left.push_back(job);
      }
      site.waiting = std::move(left);
    }
  }

  /// "" = it is of no tenant that owns cells.
  std::string owner_of(JobId job, const View& view) const {
    const TenantId tenant = view.progress(job).tenant;
    if (tenant == kNoTenant) return "";
    const auto owns = [&](const auto& each) { return each.first == index(tenant); };
    return std::any_of(owners_.begin(), owners_.end(), owns) ? owner_name(index(tenant)) : "";
  }

  static bool has_quota(JobId job, const View& view, const Plan& plan) {
    return plan.quotas == nullptr ||
           plan.quotas->has_room(view.demand(view.progress(job).demand).claim);
  }

  void look_at_quotas(const View& view, const Plan& plan) {
    aside_.clear();
    if (plan.quotas == nullptr) return;
    for (const Site& site : sites_) {
      for (const JobId job : site.waiting) {
        if (!has_quota(job, view, plan)) aside_.insert(job);
      }
    }
  }

  bool start(VcId vc, JobId job, const std::string& owner, const View& view, Plan& plan) {
    Site& site = sites_[index(vc)];
    const cluster::Demand& demand = view.demand(view.progress(job).demand);
    if (demand.is_cpu_job()) {
      std::vector<Grant> grants;
      if (owner != kGuests || !placement_->place(plan.ledger, vc, demand, view.rng, grants)) {
        return false;
      }
      plan.set(job, {.grants = grants});
      return true;
    }
    return std::any_of(site.kinds.begin(), site.kinds.end(), [&](const Kind& kind) {
      return (kind.gpu_type & demand.gpu_types) != 0 &&
             start_in(site, kind, job, owner, view, plan);
    });
  }

  bool start_in(Site& site, const Kind& kind, JobId job, const std::string& owner, const View& view,
                Plan& plan) {
    const cluster::Demand& demand = view.demand(view.progress(job).demand);
    const bool is_guest = owner == kGuests;
    const cells::Request request{
        .group = group_name(job),
        .vc = owner,
        .priority = is_guest ? cells::kOpportunistic : cells::kLeastGuaranteed,
        .leaf_type = kind.gpu(),
        .members = pods_of(demand, kind)};
    // Where a node lacks cores or memory, or a GPU of it is out of service, others are asked for.
    cells::Nodes suggested = site.cells->everywhere();
    for (int tries = 0; tries < kMostTries; ++tries) {
      const cells::Decision found = site.cells->decide(request, suggested, /*claim=*/false);
      if (found.what != What::bind && found.what != What::preempt) return false;
      const NodeId lacks = carry_out(site, job, request, found, view, plan);
      if (lacks == kNoNode) return true;
      suggested[static_cast<std::size_t>(site.cells->cluster().find_node(name_of(lacks)))] = false;
    }
    return false;
  }

  /// Gives a node where it cannot be done, or kNoNode; then it is.
  NodeId carry_out(Site& site, JobId job, const cells::Request& request,
                   const cells::Decision& found, const View& view, Plan& plan) {
    const std::vector<Grant> grants = grants_of(found, view.demand(view.progress(job).demand));
    const std::size_t before = plan.ledger.mark();
    bool may_stop = true;
    for (const std::string& victim : found.victims) {
      const JobId other = job_of(victim);
      // One that starts in this very plan is not to be stopped by it.
      may_stop =
          may_stop && view.progress(other).phase == Phase::running && plan.find(other) == nullptr;
      if (!may_stop) break;
      for (const Grant& grant : view.grants(other)) plan.ledger.give_back(grant);
    }
    for (const Grant& grant : grants) {
      if (may_stop && plan.ledger.can_take(grant)) continue;
      plan.ledger.undo(before);
      return grant.node;
    }
    for (const std::string& victim : found.victims) {
      site.cells->release(victim);
      plan.set(job_of(victim), {});
      stopped_.push_back(job_of(victim));
    }
    site.cells->allocate(request, found);
    for (const Grant& grant : grants) plan.ledger.take(grant);
    plan.set(job, {.grants = grants});
    return kNoNode;
  }

  /// What it has on each node: whole nodes, and one for the rest.
  static std::vector<cells::Member> pods_of(const cluster::Demand& demand, const Kind& kind) {
    std::vector<cells::Member> made;
    const int whole = demand.gpus / kind.gpus_per_node();
    const int rest = demand.gpus % kind.gpus_per_node();
    if (whole > 0) made.push_back({whole, kind.gpus_per_node()});
    if (rest > 0) made.push_back({1, rest});
    return made;
  }

  static std::vector<Grant> grants_of(const cells::Decision& decision,
                                      const cluster::Demand& demand) {
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

  /// Takes over a job that runs, as if it had been decided on here.
  void adopt(JobId job, const View& view) {
    Site& site = site_of(job, view);
    const auto held = view.grants(job);
    const auto is_whole = [](const Grant& grant) {
      return grant.gpus != 0 && grant.gpu_milli == cluster::kWholeGpu;
    };
    // Cells do not know parts of GPUs: such a job is in the way as one out of service is.
    if (!site.cells || !std::all_of(held.begin(), held.end(), is_whole)) return;
    const std::string owner = owner_of(job, view);
    const Kind* const kind = kind_at(site, held.front().node);
    cells::Request request{
        .group = group_name(job),
        .vc = owner.empty() ? kGuests : owner,
        .priority = owner.empty() ? cells::kOpportunistic : cells::kLeastGuaranteed,
        .leaf_type = kind->gpu()};
    cells::Decision decision;
    decision.what = What::bind;
    decision.chain = kind->node();
    for (const Grant& grant : held) {
      cells::Pod pod{.node = name_of(grant.node)};
      for (int gpu = 0; gpu < kind->gpus_per_node(); ++gpu) {
        if ((grant.gpus >> gpu & 1) != 0) pod.leaves.push_back(gpu);
      }
      request.members.push_back({1, grant.count()});
      pod.owned.assign(pod.leaves.size(), owner.empty() ? "" : kind->node());
      decision.pods.push_back(std::move(pod));
    }
    site.cells->allocate(request, decision);
  }

  static const Kind* kind_at(const Site& site, NodeId node) {
    // Chains have nodes in the order of kinds.
    const int number = site.cells->cluster().find_node(name_of(node));
    for (std::size_t chain = 0; chain < site.kinds.size(); ++chain) {
      const auto& tops = site.cells->cluster().chains[chain].cells.back();
      const bool has_it = std::any_of(tops.begin(), tops.end(), [&](const cells::Cell* top) {
        return top->nodes.front() == number;
      });
      if (has_it) return &site.kinds[chain];
    }
    ALMANAC_CHECK(false, "a job runs on node {}, which has no cells", index(node));
    return nullptr;
  }

  std::unique_ptr<Placement> placement_;                // of CPU jobs
  std::vector<std::pair<std::size_t, double>> owners_;  // tenants, and their part of all GPUs
  std::vector<Site> sites_;                             // by VcId
  std::vector<JobId> stopped_;                          // by the plan in the making
  std::set<JobId> aside_;                               // those for which no quota has room
};

}  // namespace

void register_hived(Registry& registry) {
  registry.wholes.add(
      {.name = "hived",
       .summary = "tenants own nodes, sockets and GPUs, and have them whoever is a guest there",
       .source = "Zhao et al. OSDI'20 (HiveD)",
       .traits = {.has = {Trait::reads_tenants, Trait::stops_jobs}}},
      [](const Parameters&, const Composition& composition, Host host) {
        return std::make_unique<Hived>(
            almanac::policy::registry().placements.make(composition.placement, host));
      });
}

}  // namespace almanac::policy::whole
