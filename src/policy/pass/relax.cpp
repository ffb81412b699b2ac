// SPDX-License-Identifier: Apache-2.0

/// \file
/// Locality at first: a job waits for a place that its placement prefers. Once it has waited for a
/// given time, it takes any free GPUs, spread from the emptiest node down. Jobs that fit pass those
/// that do not.
///
/// Source   Jeon et al., ATC'19 (Philly), section 2.3: locality constraints are relaxed after some
///          tries, to shorten the wait of large jobs at the cost of their speed.
/// Differs  The time since a job was submitted or last stopped replaces the number of tries. There
///          is one step; the placement may prefer racks.
/// Cost     as `scan`, plus O(waiting jobs) per decision while enough GPUs are free for any of them
#include <algorithm>
#include <map>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/start_each.h"
#include "policy/placement/scatter.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class RelaxPass final : public Pass {
 public:
  RelaxPass(Desk& desk, Duration wait) : desk_(desk), wait_(wait) {}

  void run(VcState& vc) override {
    start_each(desk_, vc, [](const RankedQueue& jobs) { return &jobs.front(); });
    while (start_spread(vc)) {
    }
    if (due_[vc.vc] != kNever) desk_.plan().wake(due_[vc.vc]);
  }

  void timer(std::span<VcState>, std::vector<VcId>& need) override {
    for (const auto& [vc, at] : due_) {
      if (at <= desk_.now()) need.push_back(vc);
    }
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  /// Starts the first job that has waited for long enough and can be spread; false = there is none.
  bool start_spread(VcState& vc) {
    Time& due = due_[vc.vc] = kNever;
    for (WaitingQueue::Walk at(vc.waiting); !at.at_end();) {
      const cluster::Demand& demand = at.demand();
      // A job of one GPU has no locality to give up, how many nodes a shape has is its own, and
      // groups in NVLink domains take any nodes already.
      const bool may_spread = demand.gpus > 1 && demand.nodes == 0 && demand.nvlink_gpus == 0 &&
                              desk_.ledger().free_gpus(vc.vc, demand) >= demand.gpus &&
                              desk_.is_within_quotas(demand);
      if (!may_spread) {
        at.leave_out();
        continue;
      }
      const Time relaxed = desk_.view().progress(at.job()).since + wait_;
      if (relaxed > desk_.now()) {
        due = std::min(due, relaxed);
        at.advance();
        continue;
      }
      std::vector<cluster::Grant> grants;
      if (placement::scatter(desk_.ledger(), vc.vc, demand, grants, placement::emptiest)) {
        desk_.start(vc, at.job(), grants);
        return true;
      }
      at.leave_out();
    }
    return false;
  }

  Desk& desk_;
  Duration wait_;
  std::map<VcId, Time> due_;  // when the next of its jobs may spread; kNever = none is to
};

}  // namespace

namespace pass {

void register_relax(Registry& registry) {
  registry.passes.add(
      {.name = "relax",
       .summary = "like scan, but a job spreads over more nodes after waiting for a while",
       .source = "Jeon et al. ATC'19 (Philly) §2.3",
       .parameters = {number("wait_s", "how long a job waits for its preferred placement", 600, 0,
                             1e9)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<RelaxPass>(desk, told.duration("wait_s"));
      });
}

}  // namespace pass
}  // namespace almanac::policy
