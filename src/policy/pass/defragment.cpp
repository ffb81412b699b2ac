// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes room for a job that does not fit although enough GPUs are free: running jobs move to other
/// GPUs, those whose move costs least, if the cost is low enough.
///
/// In order of rank, each job starts if it fits or if room can be made; the others pass it. If the
/// packing lets jobs share GPUs, jobs that still wait join others, and jobs that share do not move.
/// The work that moves lose is bounded per GPU of the job that starts in the room. So over a whole
/// run, no more is lost than that bound per GPU started in this way.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2; volcano-sh/volcano#3948.
/// Differs  Gandiva moves jobs whenever that packs them more tightly; here a job moves only if
///          another starts in the room at once. Racks are ignored (rules/defrag/compaction.h).
/// Cost     O(waiting demands) per start; a search of at most 200,000 steps for each of the first
///          eight demands that do not fit although enough is free
#include <algorithm>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/eviction.h"
#include "policy/kit/let_join.h"
#include "policy/kit/unmet.h"
#include "policy/registry.h"
#include "rules/defrag/compaction.h"

namespace almanac::policy {
namespace {

class DefragmentPass final : public Pass {
 public:
  DefragmentPass(Desk& desk, double most_s) : desk_(desk), most_s_(most_s) {}

  PassNeeds needs() const override { return {.running = RunningRank::of_order}; }

  void run(VcState& vc) override {
    unmet_.clear();
    in_vain_.clear();
    residents_.clear();
    while (start_next(vc)) {
    }
    let_join(desk_, vc);
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  static constexpr std::size_t kMostTried = 8;
  static constexpr std::int64_t kLooks = 200'000;

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
      if (make_room(vc, at.job(), at.demand())) return true;
    }
    return false;
  }

  /// Starts `job`; false = changed nothing.
  bool make_room(VcState& vc, JobId job, const cluster::Demand& demand) {
    if (demand.is_cpu_job() || !defrag::is_enough_free(desk_.ledger(), vc.vc, demand)) return false;
    if (in_vain_.size() == kMostTried || !desk_.is_within_quotas(demand)) return false;
    if (std::find(in_vain_.begin(), in_vain_.end(), demand) != in_vain_.end()) return false;
    if (residents_.empty()) find_residents(vc);
    const double gpus = demand.gpus * (demand.gpu_milli / double{cluster::kWholeGpu});
    const defrag::Answer answer = defrag::make_room(
        desk_.ledger(), residents_, vc.vc, demand, {.most_gpu_s = most_s_ * gpus, .looks = kLooks});
    if (!answer.best) {
      in_vain_.push_back(demand);
      return false;
    }
    carry_out(vc, job, *answer.best);
    unmet_.clear();
    return true;
  }

  void carry_out(VcState& vc, JobId job, const defrag::Compaction& compaction) {
    for (const defrag::Move& move : compaction.moves) {
      const JobId moves = residents_[move.resident].job;
      for (const cluster::Grant& grant : desk_.grants(moves)) desk_.touched.push_back(grant.node);
    }
    defrag::carry_out(compaction, desk_.ledger(), residents_);
    for (const defrag::Move& move : compaction.moves) {
      desk_.move(residents_[move.resident].job, move.to);
      residents_[move.resident].cost_gpu_s = defrag::kStays;
    }
    desk_.start(vc, job, compaction.place);
  }

  /// The jobs that run, but for those that start now or are on nodes that go.
  void find_residents(const VcState& vc) {
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      const JobId job = at.get()->job;
      // Jobs that share GPUs stay together.
      if (!desk_.runs(job) || !may_move(desk_, job) || desk_.is_paired(job)) continue;
      const auto held = desk_.grants(job);
      double gpus = 0;
      for (const cluster::Grant& grant : held) {
        gpus += std::max(1, grant.count()) * (grant.gpu_milli / double{cluster::kWholeGpu});
      }
      residents_.push_back({.job = job,
                            .held = {held.begin(), held.end()},
                            .cost_gpu_s = gpus * seconds(desk_.view().cost(job, {})),
                            .nvlink_gpus = desk_.demand(job).nvlink_gpus});
    }
  }

  Desk& desk_;
  double most_s_;
  std::vector<defrag::Resident> residents_;  // of the virtual cluster that is looked at
  // Demands of this decision that find no place, and for which no room can be made.
  Unmet unmet_;
  std::vector<cluster::Demand> in_vain_;
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
