// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs each new job briefly on a few nodes first, where it is measured and where short jobs end. A
/// job that has not ended by then is stopped and waits for the other nodes, where jobs that fit
/// pass those that do not.
///
/// The first `nodes` nodes of a virtual cluster, at most half of them, are reserved for that. Jobs
/// of up to `most_gpus` GPUs go there, those with the fewest GPUs first, and none passes another.
/// Larger jobs, jobs that request a part of a GPU or none, and jobs that may not be stopped are not
/// measured. While a virtual cluster is idle, all its nodes are open to all jobs. If the packing
/// lets jobs share GPUs, measured jobs that still wait join others.
///
/// With `most_nodes` above `nodes`, a node is added, at most every 10 s, while more than 10 jobs
/// wait to be measured. The last one is given back, at most every 100 s, if it is idle and fewer
/// than 5 wait.
///
/// Source   Hu et al., ASPLOS'23 (Lucid), section 3.2, and its published simulator.
/// Differs  The measuring nodes follow the jobs that wait; the paper also forecasts how many will
///          come. A job stopped there loses what any stop costs, not all its work.
/// Cost     as `scan`, plus O(waiting jobs that were not measured) per decision
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policy/contract/may_stop.h"
#include "policy/kit/desk.h"
#include "policy/kit/let_join.h"
#include "policy/kit/start_each.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

constexpr std::size_t kMany = 10;  // jobs that wait to be measured
constexpr std::size_t kFew = 5;
constexpr Duration kGrowsEvery = 10s;
constexpr Duration kShrinksEvery = 100s;

class ProfileFirstPass final : public Pass {
 public:
  ProfileFirstPass(Desk& desk, std::size_t nodes, Duration time, int most_gpus,
                   std::size_t most_nodes)
      : desk_(desk),
        nodes_(nodes),
        time_(time),
        most_gpus_(most_gpus),
        most_nodes_(std::max(nodes, most_nodes)) {}

  PassNeeds needs() const override { return {.running = RunningRank::of_order}; }

  void run(VcState& vc) override {
    stop_measured(vc);
    follow_demand(vc);
    const std::vector<NodeId> kept = kept_nodes(vc.vc);
    measure(vc, kept);
    const std::vector<cluster::Grant> held = vc.running.empty() ? Grants{} : hold(kept);
    start_each(desk_, vc, [&](const RankedQueue& jobs) { return first(jobs); });
    for (const cluster::Grant& grant : held) desk_.ledger().give_back(grant);
    let_join(desk_, vc, [&](JobId job) { return !is_new(job); });
  }

  void withdrawn(VcState& vc, JobId job) override { new_[vc.vc].erase(job); }
  void arrived(VcState& vc, JobId job) override {
    const cluster::Demand& demand = desk_.demand(job);
    const bool is_measured = demand.gpus > most_gpus_ || demand.is_part() || demand.is_cpu_job();
    const bool ran = desk_.view().attained(job) > Duration{0};
    const bool stops = may_stop(desk_.view().request(job), Stops::all);
    if (!is_measured && !ran && stops && !kept_nodes(vc.vc).empty()) new_[vc.vc].insert(job);
  }
  void ended(VcState&, JobId job) override { forget(job); }

  void timer(std::span<VcState>, std::vector<VcId>& need) override {
    for (const auto& [job, until] : measured_) {
      if (until <= desk_.now()) need.push_back(desk_.view().progress(job).vc);
    }
    for (const auto& [vc, waiting] : new_) {
      if (most_nodes_ > nodes_ && waiting.size() > kMany) need.push_back(vc);
    }
    for (const auto& [vc, added] : added_) {
      if (added.nodes > 0 && added.may_change(kShrinksEvery, desk_.now())) need.push_back(vc);
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    const JobId first = vc.waiting.first().jobs.front().job;
    // What is free is kept for others.
    if (first == job || is_new(job)) return {.kind = ReasonKind::passed_over};
    return {.kind = ReasonKind::behind, .other = first};
  }

 private:
  using Grants = std::vector<cluster::Grant>;

  bool is_new(JobId job) const {
    const auto here = new_.find(desk_.view().progress(job).vc);
    return here != new_.end() && here->second.contains(job);
  }
  void forget(JobId job) {
    measured_.erase(job);
    desk_.apart.erase(job);
  }

  const QueueEntry* first(const RankedQueue& jobs) const {
    for (RankedQueue::Cursor at(jobs); at.get() != nullptr; at.advance()) {
      if (!is_new(at.get()->job)) return at.get();
    }
    return nullptr;
  }

  /// Measuring nodes beyond the first ones, and the last change of their number.
  struct Added {
    std::size_t nodes = 0;
    Time since = Time::min();

    bool may_change(Duration after, Time now) const {
      return since == Time::min() || now >= since + after;
    }
  };

  void follow_demand(const VcState& vc) {
    if (most_nodes_ == nodes_) return;
    Added& added = added_[vc.vc];
    const std::size_t waiting = new_[vc.vc].size();
    const std::size_t most = std::min(most_nodes_, gpu_nodes(vc.vc).size() / 2);
    const bool is_crowded = waiting > kMany && nodes_ + added.nodes < most;
    const std::vector<NodeId> kept = kept_nodes(vc.vc);
    if (is_crowded && added.may_change(kGrowsEvery, desk_.now())) {
      added = {.nodes = added.nodes + 1, .since = desk_.now()};
    } else if (waiting < kFew && added.nodes > 0 && added.may_change(kShrinksEvery, desk_.now()) &&
               !kept.empty() && is_idle(kept.back())) {
      added = {.nodes = added.nodes - 1, .since = desk_.now()};
    }
    if (is_crowded) desk_.plan().wake(added.since + kGrowsEvery);
    const bool may_shrink_later = added.nodes > 0 && !added.may_change(kShrinksEvery, desk_.now());
    if (may_shrink_later && !vc.waiting.empty()) desk_.plan().wake(added.since + kShrinksEvery);
  }

  bool is_idle(NodeId node) const {
    return std::popcount(desk_.ledger().free_mask(node)) == desk_.ledger().pool(node).gpus_per_node;
  }

  std::vector<NodeId> gpu_nodes(VcId vc) const {
    std::vector<NodeId> nodes;
    for (const cluster::Pool& pool : desk_.ledger().pools(vc)) {
      if (pool.gpus_per_node > 0) nodes.insert(nodes.end(), pool.nodes.begin(), pool.nodes.end());
    }
    return nodes;
  }

  std::vector<NodeId> kept_nodes(VcId vc) const {
    std::vector<NodeId> nodes = gpu_nodes(vc);
    std::sort(nodes.begin(), nodes.end());
    const auto added = added_.find(vc);
    const std::size_t kept = nodes_ + (added == added_.end() ? 0 : added->second.nodes);
    nodes.resize(std::min(kept, nodes.size() / 2));
    return nodes;
  }

  void stop_measured(VcState& vc) {
    std::vector<JobId> over;
    for (const auto& [job, until] : measured_) {
      if (until <= desk_.now() && desk_.view().progress(job).vc == vc.vc) over.push_back(job);
    }
    for (const JobId job : over) {
      forget(job);
      if (!desk_.runs(job)) continue;
      desk_.give_back(job);
      desk_.stop(vc, job);
      desk_.plan().wake(desk_.now());
    }
  }

  void measure(VcState& vc, const std::vector<NodeId>& kept) {
    std::set<JobId>& waiting = new_[vc.vc];
    std::vector<std::pair<int, JobId>> line;
    for (const JobId job : waiting) line.emplace_back(desk_.demand(job).gpus, job);
    std::sort(line.begin(), line.end());
    for (const auto& [gpus, job] : line) {
      const cluster::Demand& demand = desk_.demand(job);
      const auto node = std::find_if(kept.begin(), kept.end(), [&](NodeId each) {
        return desk_.ledger().ready(each) && desk_.ledger().suits(each, demand) &&
               desk_.ledger().units(each, demand) >= demand.gpus;
      });
      if (node == kept.end() || !desk_.is_within_quotas(demand)) {
        // One that has no room on such a node though that is idle is not measured.
        const bool may_wait = std::any_of(kept.begin(), kept.end(), [&](NodeId each) {
          const int all = desk_.ledger().pool(each).gpus_per_node;
          return desk_.ledger().ready(each) && desk_.ledger().suits(each, demand) &&
                 all >= demand.gpus && std::popcount(desk_.ledger().free_mask(each)) < all;
        });
        if (may_wait) return;
        waiting.erase(job);
        continue;
      }
      const Grants grants{desk_.ledger().take(*node, demand.of(demand.gpus))};
      waiting.erase(job);
      measured_[job] = desk_.now() + time_;
      desk_.apart.insert(job);
      desk_.plan().wake(desk_.now() + time_);
      desk_.start(vc, job, grants);
    }
  }

  /// Takes the free GPUs of the nodes out of the ledger, so that no job gets them.
  Grants hold(const std::vector<NodeId>& nodes) {
    Grants held;
    for (const NodeId node : nodes) {
      const cluster::GpuMask free = desk_.ledger().free_mask(node);
      if (free == 0) continue;
      held.push_back({.node = node, .gpus = free});
      desk_.ledger().take(held.back());
    }
    return held;
  }

  Desk& desk_;
  std::size_t nodes_;
  Duration time_;
  int most_gpus_;
  std::size_t most_nodes_;
  std::map<VcId, Added> added_;
  std::map<VcId, std::set<JobId>> new_;  // that wait to be measured
  std::map<JobId, Time> measured_;       // that are, and until when
};

}  // namespace

namespace pass {

void register_profile_first(Registry& registry) {
  registry.passes.add(
      {.name = "profile_first",
       .summary = "profiles new jobs on a few nodes for a short time; then like scan",
       .source = "Hu et al. ASPLOS'23 (Lucid) §3.2",
       .traits = {.has = {Trait::lets_join, Trait::stops_jobs, Trait::parts_cluster},
                  .bars = {Trait::deals_out, Trait::revises_waiting, Trait::chooses_gpus}},
       .parameters = {whole_number("nodes", "profiling nodes in each virtual cluster", 1, 1,
                                   10'000),
                      number("time_s", "how long a new job is profiled", 200, 1, 1e9),
                      whole_number("most_gpus", "largest job that is profiled", 8, 1, 64),
                      whole_number("most_nodes",
                                   "profiling nodes at most, while more than 10 jobs wait for "
                                   "them; 0: always as many as `nodes`",
                                   0, 0, 10'000)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<ProfileFirstPass>(
            desk, static_cast<std::size_t>(told.whole("nodes")), told.duration("time_s"),
            told.whole("most_gpus"), static_cast<std::size_t>(told.whole("most_nodes")));
      });
}

}  // namespace pass
}  // namespace almanac::policy
