// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes room for a job that does not fit although enough GPUs are free: running jobs move to other
/// GPUs, those whose move costs least, if the cost is low enough (kit/room_by_moves.h).
///
/// In order of rank, each job starts if it fits or if room can be made; the others pass it. If the
/// packing lets jobs share GPUs, jobs that still wait join others.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2; volcano-sh/volcano#3948.
/// Cost     O(waiting demands) per start, and the searches of kit/room_by_moves.h
#include <memory>

#include "policy/kit/desk.h"
#include "policy/kit/let_join.h"
#include "policy/kit/room_by_moves.h"
#include "policy/kit/unmet.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class DefragmentPass final : public Pass {
 public:
  DefragmentPass(Desk& desk, double most_s) : desk_(desk), room_(desk, {.most_s = most_s}) {}

  PassNeeds needs() const override { return {.running = RunningRank::of_order}; }

  void run(VcState& vc) override {
    unmet_.clear();
    room_.open();
    while (start_next(vc)) {
    }
    let_join(desk_, vc);
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  /// Starts the first job that fits, or for which room can be made; false = there is none.
  bool start_next(VcState& vc) {
    for (WaitingQueue::Walk at(vc.waiting); !at.at_end(); at.leave_out()) {
      if (!unmet_.rules_out(at.demand())) {
        const auto grants = desk_.place(vc.vc, at.demand());
        if (!grants.empty()) {
          desk_.start(vc, at.job(), grants);
          return true;
        }
        unmet_.add(at.demand());
      }
      if (!room_.start(vc, at.job(), at.demand())) continue;
      unmet_.clear();
      return true;
    }
    return false;
  }

  Desk& desk_;
  RoomByMoves room_;
  Unmet unmet_;  // demands of this decision that find no place
};

}  // namespace

namespace pass {

void register_defragment(Registry& registry) {
  registry.passes.add(
      {.name = "defragment",
       .summary = "like scan, but moves running jobs aside to make room for a blocked job",
       .source = "Xiao et al. OSDI'18 (Gandiva) §3.2",
       .traits = {.has = {Trait::moves_jobs, Trait::lets_join},
                  .bars = {Trait::deals_out, Trait::revises_waiting}},
       .parameters = {number("lost_s",
                             "most work that moves may lose, per GPU of the job that starts", 600,
                             0, 1e9)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<DefragmentPass>(desk, told.number("lost_s"));
      });
}

}  // namespace pass
}  // namespace almanac::policy
