// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leases as those of the pass `lease`, which are not all that happens: as soon as a job comes or
/// ends, waiting jobs start where they fit, in order of rank.
///
///   Time slices   at the end of each lease all GPU jobs are ranked again (kit/ranked_leases.h)
///   Migration     a job for which enough GPUs are free, but apart, starts after others have moved
///                 (kit/room_by_moves.h)
///   Packing       jobs that still wait join others, as the packing decides
///   Grow-shrink   an elastic job (Request::max_gpus) that is on one node grows to the GPUs of that
///                 node that have been idle for `idle_s`, if no job waits. When a job waits that
///                 does not fit, all jobs of its virtual cluster shrink to their request at once.
///                 Both are a restart.
///
/// With speed models, a job grows only if it becomes faster. A job is stopped at the end of a
/// lease, moved or grown only once it has gained what its restart costs (kit/gain.h): restarts as
/// long as leases would otherwise leave no time to train.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3: suspend-resume and packing, migration,
///          grow-shrink of jobs that declare it, within a server, late to grow and at once to
///          shrink.
/// Differs  All grown jobs shrink, even if that does not make the waiting job fit. A job may end
///          soon after a restart for growth, because its run time is unknown. Packing comes before
///          time slices. While there are quotas, which would count grown GPUs, no job grows.
/// Cost     O(running jobs) per decision in addition to the parts
#include <algorithm>
#include <map>
#include <vector>

#include "policy/kit/eviction.h"
#include "policy/kit/gain.h"
#include "policy/kit/let_join.h"
#include "policy/kit/ranked_leases.h"
#include "policy/kit/room_by_moves.h"
#include "policy/kit/start_each.h"
#include "policy/registry.h"
#include "trace/sizes.h"

namespace almanac::policy {
namespace {

class IntrospectivePass final : public RankedLeases {
 public:
  IntrospectivePass(Desk& desk, const Parameters& told)
      : RankedLeases(desk, told.duration("lease_s"), Duration{0}),
        room_(desk, {.most_s = told.number("lost_s"), .only_repaid = true}),
        patience_(told.duration("idle_s")) {}

 private:
  /// Free GPUs of a node, and since when it has had as many.
  struct Idle {
    int gpus = 0;
    Time since{};
  };

  void renew(VcState& vc) override {
    shrink_for_waiting(vc);
    room_.open();
    RankedLeases::renew(vc);
    grow(vc);
  }

  void between(VcState& vc) override {
    shrink_for_waiting(vc);
    start_each(desk_, vc, [](const RankedQueue& jobs) { return &jobs.front(); });
    room_.open();
    make_more_room(vc);
    let_join(desk_, vc);
    grow(vc);
  }

  void make_more_room(VcState& vc) override {
    while (migrate_for_one(vc)) {
    }
  }
  bool migrate_for_one(VcState& vc) {
    for (WaitingQueue::Walk at(vc.waiting); !at.at_end(); at.leave_out()) {
      if (!at.demand().is_part() && room_.start(vc, at.job(), at.demand())) return true;
    }
    return false;
  }

  /// Whether a job does not fit although quotas have room for it.
  bool some_wait_in_vain(const VcState& vc) {
    const std::size_t before = desk_.ledger().mark();
    bool all_fit = true;
    for (WaitingQueue::Walk at(vc.waiting); all_fit && !at.at_end(); at.advance()) {
      all_fit = !desk_.is_within_quotas(at.demand()) || !desk_.place(vc.vc, at.demand()).empty();
    }
    desk_.ledger().undo(before);
    return !all_fit;
  }

  /// Whether a job may have more GPUs of the node that it is on.
  bool may_grow(JobId job) const {
    const auto held = desk_.grants(job);
    return desk_.view().request(job).max_gpus > 0 && held.size() == 1 && held.front().count() > 0 &&
           held.front().gpu_milli == cluster::kWholeGpu && may_move(desk_, job);
  }

  void shrink_for_waiting(const VcState& vc) {
    std::vector<JobId> grown;
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      const JobId job = at.get()->job;
      if (!desk_.runs(job) || !may_grow(job)) continue;
      if (desk_.grants(job).front().count() > desk_.demand(job).gpus) grown.push_back(job);
    }
    if (grown.empty() || !some_wait_in_vain(vc)) return;
    for (const JobId job : grown) shrink(job);
  }

  /// Leaves a job what it requests.
  void shrink(JobId job) {
    const cluster::Grant held = desk_.grants(job).front();
    const cluster::Demand& demand = desk_.demand(job);
    const std::size_t before = desk_.ledger().mark();
    desk_.give_back(job);
    if (desk_.ledger().units(held.node, demand) < demand.gpus) {
      desk_.ledger().undo(before);
      return;
    }
    const cluster::Grant kept = desk_.ledger().take(held.node, demand.total());
    desk_.move(job, {&kept, 1});
  }

  /// Gives idle GPUs to jobs on their nodes, in order of rank, unless jobs wait.
  void grow(const VcState& vc) {
    std::map<NodeId, Idle> idle;
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      if (may_grow(at.get()->job)) watch(vc.vc, desk_.grants(at.get()->job).front().node, idle);
    }
    std::swap(idle_[vc.vc], idle);
    if (!vc.waiting.empty() || !desk_.stopped.empty() || desk_.plan().quotas != nullptr) return;
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      if (may_grow(at.get()->job)) grow(vc.vc, at.get()->job);
    }
  }

  void watch(VcId vc, NodeId node, std::map<NodeId, Idle>& idle) {
    const int gpus = desk_.ledger().free_on(node);
    const auto known = idle_[vc].find(node);
    const bool is_same = known != idle_[vc].end() && known->second.gpus == gpus;
    idle[node] = {gpus, is_same ? known->second.since : desk_.now()};
  }

  void grow(VcId vc, JobId job) {
    const cluster::Grant held = desk_.grants(job).front();
    const cluster::Demand& demand = desk_.demand(job);
    const int room = desk_.ledger().units(held.node, demand);
    const int gpus = trace::sizes_of(desk_.view().request(job)).at_most(held.count() + room);
    if (gpus <= held.count()) return;
    const Time due = idle_[vc][held.node].since + patience_;
    if (due > desk_.now()) return desk_.plan().wake(due);
    // Otherwise a later lease tries again.
    if (!desk_.runs(job) || !has_repaid(job, desk_.view())) return;
    const std::size_t before = desk_.ledger().mark();
    const cluster::Grant more = desk_.ledger().take(held.node, demand.of(gpus - held.count()));
    cluster::Grant grown = held;
    grown.gpus |= more.gpus;
    grown.cpu_milli += more.cpu_milli;
    grown.memory_mb += more.memory_mb;
    if (!is_faster(job, grown, held) ||
        !desk_.ledger().in_domains({&grown, 1}, demand.nvlink_gpus)) {
      desk_.ledger().undo(before);
      return;
    }
    desk_.move(job, {&grown, 1});
  }

  /// Whether a job is faster with `grown` than with `held`, as far as known. Where neither speeds
  /// nor reports are known, growth would be a restart for nothing.
  bool is_faster(JobId job, const cluster::Grant& grown, const cluster::Grant& held) const {
    const View& view = desk_.view();
    if (view.speeds == nullptr) return view.telemetry != nullptr;
    return view.speeds->rate(job, {&grown, 1}) > view.speeds->rate(job, {&held, 1});
  }

  RoomByMoves room_;
  Duration patience_;
  std::map<VcId, std::map<NodeId, Idle>> idle_;  // of nodes with a job that may grow
};

}  // namespace

namespace pass {

void register_introspective(Registry& registry) {
  registry.passes.add(
      {.name = "introspective",
       .summary =
           "time slices, in which jobs start where they fit, move aside for others, and grow "
           "to idle GPUs of their node until a job waits",
       .source = "Xiao et al. OSDI'18 (Gandiva) §3",
       .traits = {.has = {Trait::stops_jobs, Trait::moves_jobs, Trait::resizes_jobs, Trait::leases,
                          Trait::lets_join},
                  .bars = {Trait::revises_waiting, Trait::deals_out, Trait::chooses_gpus}},
       .parameters = {number("lease_s", "length of a lease", 60, 1, 1e9),
                      number("idle_s", "how long GPUs are idle until a job grows to them", 300, 0,
                             1e9),
                      number("lost_s",
                             "most work that moves may lose, per GPU of the job that starts", 600,
                             0, 1e9)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<IntrospectivePass>(desk, told);
      });
}

}  // namespace pass
}  // namespace almanac::policy
