// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/room_by_moves.h"

#include <algorithm>

#include "policy/kit/eviction.h"
#include "policy/kit/gain.h"

namespace almanac::policy {
namespace {

constexpr std::size_t kMostTried = 8;
constexpr std::int64_t kLooks = 200'000;

}  // namespace

void RoomByMoves::open() {
  in_vain_.clear();
  residents_.clear();
}

bool RoomByMoves::start(VcState& vc, JobId job, const cluster::Demand& demand) {
  if (demand.is_cpu_job() || !defrag::is_enough_free(desk_.ledger(), vc.vc, demand)) return false;
  if (in_vain_.size() == kMostTried || !desk_.is_within_quotas(demand)) return false;
  if (std::find(in_vain_.begin(), in_vain_.end(), demand) != in_vain_.end()) return false;
  if (residents_.empty()) find_residents(vc);
  const double gpus = demand.gpus * (demand.gpu_milli / double{cluster::kWholeGpu});
  const defrag::Answer answer =
      defrag::make_room(desk_.ledger(), residents_, vc.vc, demand,
                        {.most_gpu_s = limits_.most_s * gpus, .looks = kLooks});
  if (!answer.best) {
    in_vain_.push_back(demand);
    return false;
  }
  carry_out(vc, job, *answer.best);
  return true;
}

void RoomByMoves::carry_out(VcState& vc, JobId job, const defrag::Compaction& compaction) {
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
void RoomByMoves::find_residents(const VcState& vc) {
  for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
    const JobId job = at.get()->job;
    // Jobs that share GPUs stay together.
    if (!desk_.runs(job) || !may_move(desk_, job) || desk_.is_paired(job)) continue;
    if (limits_.only_repaid && !has_repaid(job, desk_.view())) continue;
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

}  // namespace almanac::policy
