// SPDX-License-Identifier: Apache-2.0

/// \file
/// If a node's memory bandwidth runs out and a GPU job suffers, halves the cores of the CPU job
/// that uses most, once a second, and returns them when there is room again.
///
/// A node is *overdrawn* from 0.749 of its peak. A job that holds GPUs and uses bandwidth suffers
/// if its GPU utilization is below 0.95 of what it was, with the same cores, while the node was not
/// overdrawn; if that was never observed, it counts as suffering. The job that was halved last gets
/// its cores back first, if they are free: at once if no GPU job on the node uses bandwidth, else
/// once the node is at 0.65 of its peak or below and would stay at 0.75 or below with them.
///
/// Source   CODA (Zhao et al., ICDCS'20), the real-time contention eliminator; the numbers are our
///          own.
/// Differs  Looks ahead before it returns cores; otherwise a job would be halved and restored in
///          turns. The reference of a GPU job is an observation, not the result of an allocator, so
///          that it works without one. Intel's MBA is not simulated. If a node's bandwidth is
///          unknown, no job is halved, and jobs are restored only if no GPU job is left. A job that
///          holds GPUs and is not measured does not count as suffering.
/// Cost     A node is checked one second after a change on it, then each second while that changes
///          something, then at each new measurement: O(jobs on it). None if nodes state no
///          bandwidth.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy::throttle {
namespace {

constexpr Duration kPeriod = 1s;
constexpr double kOverdrawn = 0.749;
constexpr double kCalm = 0.65;
constexpr double kSustained = 0.75;
constexpr double kSuffers = 0.95;
constexpr std::int32_t kLeast = 1000;  // thousandths of cores that a halved job keeps on a node

class Halve final : public Throttle {
 public:
  void started(JobId job, const Desk& desk) override {
    for (const cluster::Grant& grant : desk.grants(job)) {
      if (peak(grant.node, desk) <= 0 || desk.view().telemetry == nullptr) continue;
      if (nodes_.empty()) nodes_.resize(desk.view().cluster.nodes.size());
      nodes_[index(grant.node)].jobs.push_back(job);
      look_at(grant.node, desk.now() + kPeriod);
    }
  }

  void ended(JobId job, const Desk& desk) override {
    if (nodes_.empty()) return;
    for (const cluster::Grant& grant : desk.view().grants(job)) {
      NodeState& node = nodes_[index(grant.node)];
      std::erase(node.jobs, job);
      std::erase_if(node.halved, [&](const Halved& each) { return each.job == job; });
      look_at(grant.node, desk.now() + kPeriod);
    }
    calm_use_.erase(job);
  }

  void follow(Desk& desk) override {
    if (nodes_.empty()) return;
    for (const NodeId node : desk.touched) look_at(node, desk.now() + kPeriod);
    while (!due_.empty() && due_.begin()->first <= desk.now()) {
      const NodeId node = due_.begin()->second;
      due_.erase(due_.begin());
      nodes_[index(node)].due = kNoTime;
      const Duration news = desk.view().telemetry->renewed_every();
      if (look(node, desk)) {
        look_at(node, desk.now() + kPeriod);
      } else if (news != kNoDuration) {
        look_at(node, desk.now() + std::max(kPeriod, news));
      }
    }
    if (!due_.empty() && (due_.begin()->first < woken_ || woken_ <= desk.now())) {
      woken_ = due_.begin()->first;
      desk.plan().wake(woken_);
    }
  }

 private:
  struct Halved {
    JobId job{};
    std::int32_t cpu_milli = 0;  // cores on the node before
  };
  struct NodeState {
    std::vector<JobId> jobs;
    std::vector<Halved> halved;  // latest last; a job once per halving
    Time due = kNoTime;          // when it is checked
  };
  struct Seen {
    std::int32_t cpu_milli = 0;  // cores of the job
    double use = 0;
  };

  static double peak(NodeId node, const Desk& desk) {
    const cluster::Cluster& machines = desk.view().cluster;
    return machines.classes[machines.nodes[index(node)].node_class].bandwidth_gbs;
  }
  static std::int32_t cores(JobId job, NodeId node, const Desk& desk) {
    for (const cluster::Grant& grant : desk.grants(job)) {
      if (grant.node == node) return grant.cpu_milli;
    }
    return 0;
  }
  static std::optional<double> drawn_by(JobId job, const Desk& desk) {
    return desk.view().telemetry->bandwidth_gbs(job);
  }
  static bool draws_beside_gpus(JobId job, const Desk& desk) {
    return !desk.demand(job).is_cpu_job() && desk.runs(job) && drawn_by(job, desk).value_or(1) > 0;
  }

  /// Schedules a check unless one is scheduled already.
  void look_at(NodeId node, Time at) {
    NodeState& here = nodes_[index(node)];
    if (here.due != kNoTime || here.jobs.empty()) return;
    here.due = at;
    due_.emplace(here.due, node);
  }

  /// Returns whether it changed something.
  bool look(NodeId node, Desk& desk) {
    NodeState& here = nodes_[index(node)];
    const bool any = std::any_of(here.jobs.begin(), here.jobs.end(),
                                 [&](JobId job) { return draws_beside_gpus(job, desk); });
    if (!any) return release(node, desk);
    const auto drawn = desk.view().telemetry->bandwidth_gbs(node);
    if (!drawn) return false;
    const double most = peak(node, desk);
    if (*drawn >= kOverdrawn * most) return somebody_suffers(here, desk) && halve(node, desk);
    remember_use(here, desk);
    return *drawn <= kCalm * most && *drawn + growth(node, desk) <= kSustained * most &&
           release(node, desk);
  }

  void remember_use(const NodeState& node, const Desk& desk) {
    for (const JobId job : node.jobs) {
      if (!draws_beside_gpus(job, desk)) continue;
      const auto use = desk.view().telemetry->gpu_use(job);
      if (use) calm_use_[job] = {total_cores(job, desk), *use};
    }
  }
  static std::int32_t total_cores(JobId job, const Desk& desk) {
    std::int32_t total = 0;
    for (const cluster::Grant& grant : desk.grants(job)) total += grant.cpu_milli;
    return total;
  }

  bool somebody_suffers(const NodeState& node, const Desk& desk) const {
    return std::any_of(node.jobs.begin(), node.jobs.end(), [&](JobId job) {
      const auto use = desk.view().telemetry->gpu_use(job);
      if (!draws_beside_gpus(job, desk) || !use) return false;
      const auto calm = calm_use_.find(job);
      if (calm == calm_use_.end() || calm->second.cpu_milli != total_cores(job, desk)) return true;
      return *use < kSuffers * calm->second.use;
    });
  }

  bool halve(NodeId node, Desk& desk) {
    NodeState& here = nodes_[index(node)];
    JobId most = kNoJob;
    double most_drawn = 0;
    for (const JobId job : here.jobs) {
      if (!desk.demand(job).is_cpu_job() || !desk.runs(job)) continue;
      if (cores(job, node, desk) <= kLeast) continue;
      const auto drawn = drawn_by(job, desk);
      if (!drawn || (most != kNoJob && *drawn <= most_drawn)) continue;
      most = job;
      most_drawn = *drawn;
    }
    if (most == kNoJob) return false;
    const std::int32_t had = cores(most, node, desk);
    here.halved.push_back({most, had});
    give(most, node, std::max(kLeast, had / 2), desk);
    return true;
  }

  /// Returns how much more bandwidth the node would use if the job that was halved last were
  /// restored.
  double growth(NodeId node, const Desk& desk) const {
    const NodeState& here = nodes_[index(node)];
    if (here.halved.empty()) return 0;
    const auto [job, before] = here.halved.back();
    const double now = cores(job, node, desk);
    const double nodes = static_cast<double>(desk.grants(job).size());
    const auto drawn = drawn_by(job, desk);
    if (!drawn) return std::numeric_limits<double>::infinity();
    return *drawn / nodes * (before / now - 1);
  }

  /// Undoes the last halving, as far as cores are free.
  bool release(NodeId node, Desk& desk) {
    NodeState& here = nodes_[index(node)];
    if (here.halved.empty()) return false;
    const auto [job, before] = here.halved.back();
    if (!desk.runs(job)) return false;
    const std::int32_t now = cores(job, node, desk);
    const std::int32_t restored = std::min(before, now + desk.ledger().room(node).cpu_milli);
    if (restored == before) here.halved.pop_back();
    if (restored == now) return restored == before;
    give(job, node, restored, desk);
    return true;
  }

  void give(JobId job, NodeId node, std::int32_t cpu_milli, Desk& desk) {
    const auto now = desk.grants(job);
    grants_.assign(now.begin(), now.end());
    for (cluster::Grant& grant : grants_) {
      if (grant.node == node) grant.cpu_milli = cpu_milli;
    }
    desk.resize(job, grants_);
  }

  std::vector<NodeState> nodes_;
  std::set<std::pair<Time, NodeId>> due_;
  Time woken_ = Time::min();  // when follow() will be, or was, called for the first of due_
  std::unordered_map<JobId, Seen> calm_use_;  // of GPU jobs
  std::vector<cluster::Grant> grants_;
};

}  // namespace

void register_halve(Registry& registry) {
  registry.throttles.add(
      {"halve",
       "when memory bandwidth runs out, the CPU jobs that use most lose half their cores",
       "Zhao et al. ICDCS'20 (CODA)",
       {.has = {Trait::reads_speeds, Trait::gives_cores}}},
      [](const Parameters&) { return std::make_unique<Halve>(); });
}

}  // namespace almanac::policy::throttle
