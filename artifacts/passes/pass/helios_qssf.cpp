// SPDX-License-Identifier: Apache-2.0

/// \file
/// The strict pass of Helios' simulator under QSSF: jobs that find the queue empty are ranked late.
///
/// Until `rank_delay_s` after the last of them came, such jobs stand in order of GPUs, fewest
/// first; then in order of rank.
///
/// Source   Hu et al., SC'21, the artifact's QSSF (`simulator` of the public code): it looks up
///          priorities at the next full second.
#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class HeliosQssf final : public Pass {
 public:
  HeliosQssf(Desk& desk, Duration delay)
      : desk_(desk), strict_(registry().passes.make("strict", desk)), delay_(delay) {}

  void file(Desk& desk, VcState& vc, JobId job) override {
    rank_late(vc);
    Unranked& unranked = of(vc);
    const bool queue_is_fresh = vc.waiting.size() == unranked.jobs.size();
    if (!queue_is_fresh) return desk.enqueue(vc, job);
    desk.enqueue_at(vc, job, 0, desk.view().request(job).gpus);
    unranked.jobs.push_back(job);
    unranked.since = desk.now();
  }

  void run(VcState& vc) override {
    strict_->run(vc);
    Unranked& unranked = of(vc);
    if (vc.waiting.empty()) unranked.jobs.clear();
    if (!unranked.jobs.empty()) desk_.plan().wake(unranked.since + delay_);
  }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) override {
    for (VcState& vc : vcs) {
      if (rank_late(vc)) need.push_back(vc.vc);
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override { return strict_->blocker(vc, job); }

 private:
  struct Unranked {
    std::vector<JobId> jobs;
    Time since{};
  };

  Unranked& of(const VcState& vc) {
    if (index(vc.vc) >= unranked_.size()) unranked_.resize(index(vc.vc) + 1);
    return unranked_[index(vc.vc)];
  }

  /// Ranks the jobs that found the queue empty, once the time for it has come; gives whether any.
  bool rank_late(VcState& vc) {
    Unranked& unranked = of(vc);
    if (unranked.jobs.empty() || desk_.now() < unranked.since + delay_) return false;
    for (const JobId job : unranked.jobs) {
      if (desk_.view().progress(job).phase != Phase::waiting) continue;
      vc.waiting.erase(desk_.demand_id(job), desk_.key(job));
      desk_.enqueue(vc, job);
    }
    unranked.jobs.clear();
    return true;
  }

  Desk& desk_;
  std::unique_ptr<Pass> strict_;
  Duration delay_;
  std::vector<Unranked> unranked_;  // of each virtual cluster
};

}  // namespace

namespace published {

void register_helios_qssf(Registry& registry) {
  registry.passes.add(
      {.name = "helios_qssf",
       .summary = "strict order in which jobs that find the queue empty are ranked late",
       .source = "Hu et al. SC'21 artifact",
       .traits = {.has = {Trait::keeps_line}},
       .parameters = {number("rank_delay_s", "how much later such a job is ranked", 1, 0, 1e9)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<HeliosQssf>(desk, told.duration("rank_delay_s"));
      });
}

}  // namespace published
}  // namespace almanac::policy
