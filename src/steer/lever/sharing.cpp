// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `sharing`: holds jobs that request shards until the policy starts them
/// (holding_lever.h), alone on a GPU or next to the running job that it chose.
///
/// Slurm chooses the GPU, so a job is released only if it must get the right one (shards.h). There
/// are three cases:
///
///   - The node has one job with a part of a GPU: the new job runs next to it.
///   - The node has no job with a part of a GPU: the new job gets half the shards of a GPU, which
///     stays open to a second job.
///   - Otherwise the job gets all shards of a GPU, which no job can share.
///
/// A node gets one job with less than a whole GPU at a time. A job that fits no case waits. If two
/// jobs share a GPU of the node already, one of them may end before the new job starts and leave it
/// a place that was not foreseen. Only jobs that may be requeued take that risk.
///
/// The lever warns about jobs that share a GPU although the policy would not let them. It requeues
/// the job that came last, once, if Almanac released it, it may be requeued and it has not run for
/// long.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/registry.h"
#include "steer/chosen_nodes.h"
#include "steer/claims.h"
#include "steer/holding_lever.h"
#include "steer/lever_registry.h"
#include "steer/mark.h"
#include "steer/shards.h"

namespace almanac::steer::lever {
namespace {

using manager::JobChange;
using manager::JobNumber;

/// A job that has run for longer would lose too much.
constexpr Duration kYoung = 2min;

class SharingLever final : public HoldingLever {
 public:
  std::optional<std::string> obstacle(const manager::Site& site,
                                      const manager::Abilities& can) const override {
    if (!site.facts.sharing_obstacle.empty()) return site.facts.sharing_obstacle;
    return HoldingLever::obstacle(site, can);
  }

  std::optional<std::string> lacks(const Scene& scene) const override {
    if (!policy::registry().traits(scene.policy.composition).has(policy::Trait::shares_gpus)) {
      return fmt::format("policy {0} does not let jobs share a GPU; {0}+harmless does",
                         scene.policy.composition.name);
    }
    if (!scene.decision.knows_speeds) {
      return "it is not known how jobs slow each other: start the service with --speed";
    }
    if (shared_nodes(scene.mirror).empty()) return "no node has two shards for each GPU";
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    std::vector<Action> made = part(scene);
    auto rest = HoldingLever::want(scene);
    std::move(rest.begin(), rest.end(), std::back_inserter(made));
    return made;
  }

  std::vector<Action> let_go(const Scene& scene) override {
    clashes_.clear();
    if (!scene.places) return HoldingLever::let_go(scene);
    std::vector<Action> made;
    for (const auto& [number, job] : scene.mirror.jobs()) {
      JobChange change{.job = number};
      if (waits(job) && asks_shards(job)) bring_back(job, scene, change);
      if (change.shards) made.push_back({change, "sharing is not on"});
    }
    return made;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> made = HoldingLever::warnings();
    made.insert(made.end(), clashes_.begin(), clashes_.end());
    return made;
  }

 private:
  bool is_for(const manager::Job& job, const Scene&) const override { return asks_shards(job); }

  void begin(const Scene& scene) override {
    nodes_ = shared_nodes(scene.mirror);
    coming_.clear();
    std::set<JobNumber> seen;
    for (const Decision::Line& line : scene.decision.lines) {
      seen.insert(line.jobs.begin(), line.jobs.end());
    }
    for (const auto& [number, job] : scene.mirror.jobs()) {
      const bool is_held = job.held || is_leased(job, scene.mirror.at());
      if (!waits(job) || is_held || !asks_shards(job)) continue;
      const bool is_ours = seen.contains(number) && !is_left(job, scene);
      const bool is_sent = is_marked(job) && !job.required_nodes.empty();
      if (is_ours && !is_sent) continue;  // it is released or held now
      const auto names = is_sent ? std::vector{job.required_nodes} : nodes_of(job, scene.mirror);
      for (const std::string& name : names) {
        const auto node = nodes_.find(name);
        if (node == nodes_.end() || shards_of_a_node(job) >= node->second.per_gpu) continue;
        coming_.insert(name);
      }
    }
  }

  /// Returns the nodes of the job's partitions.
  static std::vector<std::string> nodes_of(const manager::Job& job, const Mirror& mirror) {
    std::vector<std::string> made;
    for (const std::string& each : split_names(job.partition)) {
      const manager::Partition* const partition = mirror.find_partition(each);
      if (partition == nullptr) continue;
      made.insert(made.end(), partition->nodes.begin(), partition->nodes.end());
    }
    return made;
  }

  std::variant<Release, NotYet> release(const manager::Job& job, const Decision::Start& start,
                                        bool anywhere, const Scene& scene) override {
    const bool may_choose = !anywhere && job.tasks.empty() && job.nodes <= 1;
    const auto chosen = may_choose ? chosen_nodes(job, start, scene) : std::nullopt;
    const auto node = chosen ? nodes_.find(chosen->front()) : nodes_.end();
    const bool joins = std::any_of(
        start.held.begin(), start.held.end(),
        [](const cluster::Grant& grant) { return grant.gpu_milli < cluster::kWholeGpu; });
    if (node == nodes_.end()) {
      if (joins && !anywhere) return NotYet{};
      return alone_anywhere(job, scene);
    }
    const auto& [name, at] = *node;
    const int asked = scene.claims->of<QueueChange>().asked_shards(job);
    const bool may_be_half = asked <= at.half() && !at.is_mixed && !at.is_unclear &&
                             (at.stays_so() || may_be_parted(job));
    if (joins) {
      const std::vector<int> open = at.open();
      const bool is_there = open.size() == 1 && start.held.front().gpus == cluster::GpuMask{1}
                                                                               << open.front();
      if (!may_be_half || !is_there || !coming_.insert(name).second) return NotYet{};
      const JobNumber host = at.gpus[static_cast<std::size_t>(open.front())].jobs.front();
      return on(job, name, at.half(), fmt::format("shares the GPU of job {}", host));
    }
    const bool stays_open = may_be_half && at.open().empty() && coming_.insert(name).second;
    return on(job, name, stays_open ? at.half() : at.per_gpu, "has a GPU to itself");
  }

  void bring_back(const manager::Job& job, const Scene& scene, JobChange& change) const override {
    const int asked = scene.claims->of<QueueChange>().asked_shards(job);
    if (asked != shards_of_a_node(job)) change.shards = asked;
  }

  static Release on(const manager::Job& job, const std::string& node, int shards,
                    const std::string& how) {
    JobChange change{.job = job.number, .required_nodes = node};
    if (shards != shards_of_a_node(job)) change.shards = shards;
    return {change, fmt::format("{} on {}", how, node)};
  }

  /// Releases it with all shards of a GPU, of the largest number that its partition's nodes have.
  std::variant<Release, NotYet> alone_anywhere(const manager::Job& job, const Scene& scene) const {
    int shards = 0;
    for (const std::string& name : nodes_of(job, scene.mirror)) {
      const auto node = nodes_.find(name);
      if (node != nodes_.end()) shards = std::max(shards, node->second.per_gpu);
    }
    JobChange change{.job = job.number};
    if (!job.required_nodes.empty()) change.required_nodes = "";
    if (shards > shards_of_a_node(job)) change.shards = shards;
    return Release{change, "has a GPU to itself, on a node that Slurm chooses"};
  }

  /// Tells of jobs that lie on one GPU against the policy's will, and parts them where that costs
  /// little.
  std::vector<Action> part(const Scene& scene) {
    clashes_.clear();
    std::vector<Action> made;
    for (const Decision::Clash& clash : scene.decision.clashes) {
      const manager::Job* const last = scene.mirror.find(clash.jobs.back());
      if (last == nullptr || last->state != manager::State::running) continue;
      const std::string speed =
          std::isnan(clash.speed)
              ? "one requested the whole GPU"
              : fmt::format("one runs at {:.2f} of its speed alone", clash.speed);
      const std::string what =
          fmt::format("jobs {} are on GPU {} of {}: {}", fmt::join(clash.jobs, ", "), clash.gpu,
                      clash.node, speed);
      const bool is_young = scene.mirror.at() - last->start < kYoung;
      if (is_young && is_marked(*last) && asks_shards(*last) && may_be_parted(*last)) {
        made.push_back({FateChange{last->number, manager::Fate::requeue}, what});
      } else {
        clashes_.push_back(what);
      }
    }
    return made;
  }

  std::map<std::string, SharedNode> nodes_;
  std::set<std::string> coming_;  // where a job may be about to start that has a GPU in part
  std::vector<std::string> clashes_;
};

}  // namespace

void register_sharing(LeverRegistry& registry) {
  registry.add({.name = "sharing", .priority = 30, .make = [](const LeverParts&) {
                  return std::make_unique<SharingLever>();
                }});
}

}  // namespace almanac::steer::lever
