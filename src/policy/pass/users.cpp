// SPDX-License-Identifier: Apache-2.0

/// \file
/// Dominant resource fairness: whenever something becomes free, the user with the smallest dominant
/// share among those with a job that fits goes first.
///
/// Source   Ghodsi et al., NSDI'11, section 4.1, per virtual cluster.
/// Differs  A user's jobs with the same request go in order. A job that does not fit blocks neither
///          other users nor its user's jobs with other requests. A job's share is what it held when
///          it started.
#include <algorithm>
#include <memory>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/user_queues.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class UsersPass final : public Pass {
 public:
  explicit UsersPass(Desk& desk) : desk_(desk) {}

  void arrived(VcState& vc, JobId job) override {
    queues(vc).insert(desk_.view().request(job).user, desk_.least(job), place_of(job));
  }

  void adopted(VcState& vc, JobId job) override {
    queues(vc).use(desk_.view().request(job).user, desk_.demand(job), +1);
  }

  void withdrawn(VcState& vc, JobId job) override {
    queues(vc).erase(desk_.view().request(job).user, desk_.least(job), place_of(job));
  }

  void ended(VcState& vc, JobId job) override {
    queues(vc).use(desk_.view().request(job).user, desk_.demand(job), -1);
  }

  void capacity_changed(VcState& vc) override {
    queues(vc).wake([](const cluster::Demand&) { return true; });
  }

  void run(VcState& vc) override {
    UserQueues& waiting = queues(vc);
    for (const NodeId node : desk_.touched) {
      if (desk_.view().cluster.nodes[index(node)].vc != vc.vc) continue;
      waiting.wake(
          [&](const cluster::Demand& least) { return desk_.ledger().units(node, least) > 0; });
    }
    for (JobId job = waiting.next(); job != kNoJob; job = waiting.next()) {
      const cluster::Demand& demand = desk_.demand(job);
      auto grants = desk_.place(vc.vc, demand);
      if (grants.empty()) grants = desk_.join(vc.vc, job);
      if (grants.empty()) {
        waiting.sleep();
        continue;
      }
      const NameId user = desk_.view().request(job).user;
      waiting.erase(user, desk_.least(job), place_of(job));
      waiting.use(user, demand, +1);
      desk_.start(vc, job, grants);
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    const UserQueues& queues = *queues_[index(vc.vc)];
    Reason reason{.kind = ReasonKind::behind, .other = queues.next_of(desk_.least(job))};
    if (reason.other == kNoJob) return reason;
    const double own = queues.share(desk_.view().request(job).user);
    const double others = queues.share(desk_.view().request(reason.other).user);
    if (desk_.key(reason.other).tier == desk_.key(job).tier && others < own) {
      reason.precedence = {Term::user_share, static_cast<float>(own), static_cast<float>(others)};
    }
    return reason;
  }

 private:
  UserQueues::Place place_of(JobId job) const {
    const QueueKey key = desk_.key(job);
    return {-key.tier, key.rank, key.tie, job};
  }

  UserQueues& queues(const VcState& vc) {
    if (queues_.size() <= index(vc.vc)) queues_.resize(index(vc.vc) + 1);
    std::unique_ptr<UserQueues>& own = queues_[index(vc.vc)];
    if (!own) own = std::make_unique<UserQueues>(totals(vc.vc));
    return *own;
  }

  UserQueues::Totals totals(VcId vc) const {
    const cluster::Cluster& machines = desk_.view().cluster;
    const cluster::VirtualCluster& owner = machines.vcs[index(vc)];
    UserQueues::Totals sum{};
    for (std::uint32_t offset = 0; offset < owner.num_nodes; ++offset) {
      const cluster::Node& node = machines.nodes[index(owner.first) + offset];
      const cluster::NodeClass& make = machines.classes[node.node_class];
      sum[0] += make.gpus * cluster::kWholeGpu;
      sum[1] += cluster::cpu_milli(make.cpus);
      sum[2] += cluster::memory_mb(make.memory_gb);
    }
    return sum;
  }

  Desk& desk_;
  std::vector<std::unique_ptr<UserQueues>> queues_;  // of each virtual cluster
};

}  // namespace

namespace pass {

void register_users(Registry& registry) {
  registry.passes.add(
      {.name = "users",
       .summary = "user with the smallest dominant share first; skips jobs that do not fit",
       .source = "Ghodsi et al. NSDI'11",
       .traits = {.has = {Trait::splits_queue, Trait::lets_join}, .bars = {Trait::chooses_gpus}}},
      [](const Parameters&, Desk& desk) { return std::make_unique<UsersPass>(desk); });
}

}  // namespace pass
}  // namespace almanac::policy
