// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs the jobs of lowest rank. A job that does not fit takes the place of running jobs of higher
/// rank, the highest first, if it can then be placed. Otherwise smaller jobs behind it may start,
/// since it can take their place later. If the packing lets jobs share GPUs, jobs that still wait
/// join others, in order of rank; both can be stopped as before.
///
/// A higher priority tier precedes all ranks, and no job stops for one of a lower tier. A job
/// submitted with --no-requeue is never stopped.
///
/// Each stop costs a restart. With a margin m above 1, a job is stopped only for one whose rank is
/// less than 1/m of its own, so that small gains do not cause restarts.
///
/// Source   Gu et al., NSDI'19 (Tiresias), which preempts by queue; SRTF of Hu et al., SC'21. The
///          margin is our own.
/// Differs  The published simulators choose the jobs to stop by counting GPUs; see kit/eviction.h.
#include <algorithm>
#include <memory>
#include <queue>

#include "base/check.h"
#include "policy/kit/desk.h"
#include "policy/kit/eviction.h"
#include "policy/kit/room_by_rank.h"
#include "policy/kit/unmet.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

/// A running job's rank jumps at `at`, unless the job has stopped by then.
struct Jump {
  Time at{};
  JobId job{};
  std::uint32_t sequence = 0;  // of its run

  friend bool operator>(const Jump& a, const Jump& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }
};

class PreemptingPass final : public Pass {
 public:
  PreemptingPass(Desk& desk, double margin) : desk_(desk), margin_(margin) {}

  PassNeeds needs() const override { return {.running = RunningRank::of_order}; }

  void run(VcState& vc) override {
    RoomByRank& room = this->room(vc.vc);
    for (const NodeId node : desk_.touched) {
      if (desk_.view().cluster.nodes[index(node)].vc == vc.vc) room.changed(node);
    }
    // The jobs could not be stopped then.
    std::vector<JobId>& started = started_[index(vc.vc)];
    for (const JobId job : started) {
      for (const cluster::Grant& grant : desk_.grants(job)) room.changed(grant.node);
    }
    started.clear();
    unmet_.clear();
    beyond_reach_.clear();
    const std::size_t stops = desk_.plan().num_stops();
    while (const WaitingQueue::Class* next = first_to_try(vc.waiting)) {
      const QueueEntry& entry = next->jobs.front();
      const std::size_t stopped = desk_.plan().num_stops();
      auto grants = desk_.place(vc.vc, next->demand);
      if (grants.empty()) grants = make_room(vc, room, *next, entry);
      if (grants.empty()) {
        give_up(vc, *next);
        continue;
      }
      const QueueKey key = entry.key;
      start(vc, room, entry.job, grants);
      if (desk_.plan().num_stops() > stopped) look_again(vc, key);
    }
    if (desk_.packs()) let_join(vc);
    // A job that was stopped may fit elsewhere.
    if (desk_.plan().num_stops() > stops) desk_.plan().wake(desk_.now());
  }

  void adopted(VcState& vc, JobId job) override {
    room(vc.vc).enter(job, desk_.view().grants(job));
    expect_jump(job);
  }

  void ended(VcState& vc, JobId job) override { room(vc.vc).leave(job, desk_.view().grants(job)); }

  void capacity_changed(VcState& vc) override { room(vc.vc).all_changed(); }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) override {
    for (; !jumps_.empty() && jumps_.top().at <= desk_.now(); jumps_.pop()) {
      const auto [at, job, sequence] = jumps_.top();
      const Progress& state = desk_.view().progress(job);
      if (state.phase != Phase::running || desk_.key(job).sequence != sequence) continue;
      const Candidate seen = desk_.candidate(job);
      const double rank = desk_.order().rank(seen) + desk_.fallen();
      desk_.refile_running(vcs[index(state.vc)], job, rank);
      for (const cluster::Grant& grant : desk_.view().grants(job)) {
        room(state.vc).changed(grant.node);
      }
      need.push_back(state.vc);
      const Duration next = desk_.order().jumps_after(seen);
      if (next != kNoDuration) again_.push_back({desk_.now() + next, job, sequence});
    }
    for (const Jump& jump : again_) jumps_.push(jump);
    again_.clear();
    if (!jumps_.empty()) desk_.plan().wake(jumps_.top().at);
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  const WaitingQueue::Class* first_to_try(const WaitingQueue& waiting) const {
    return first_past(waiting, [&](const cluster::Demand& demand) {
      return unmet_.rules_out(demand) || beyond_reach_.rules_out(demand);
    });
  }

  template <typename Skips>
  static const WaitingQueue::Class* first_past(const WaitingQueue& waiting, Skips&& skips) {
    const auto front = [](const WaitingQueue::Class& each) { return &each.jobs.front(); };
    return waiting.first_of(skips, front).from;
  }

  /// Takes note that a demand finds no place; and that none does that asks as many GPUs, where the
  /// least of them is beyond reach.
  void give_up(VcState& vc, const WaitingQueue::Class& own) {
    unmet_.add(own.demand);
    if (vc.waiting.has_few_demands()) return;
    const cluster::Demand least = vc.waiting.least_like(own);
    if (least != own.demand && is_beyond_reach(vc, least, own.front)) beyond_reach_.add(least);
  }

  /// The last place in the order from which a running job is not stopped for the waiting job of
  /// `key`, as running jobs are filed. Jobs of lower tiers are behind it, whatever the margin.
  QueueKey bar(const QueueKey& key) const {
    const double rank = key.rank > 0 ? key.rank * margin_ : key.rank / margin_;
    return {.rank = rank + desk_.fallen(),
            .tie = kNobody.tie,
            .sequence = kNobody.sequence,
            .tier = key.tier};
  }

  /// Names the running jobs behind `bar`, worst first; some job must run.
  auto victims_of(const VcState& vc, const QueueKey& bar) const {
    return [this, &vc, bar, worst = &vc.running.back()]() mutable {
      while (worst != nullptr && bar < worst->key) {
        const JobId job = worst->job;
        worst = vc.running.previous(worst->key);
        if (!started_now(job)) return job;
      }
      return kNoJob;
    };
  }

  /// Whether no job at `key` or behind it that asks as much could start, whatever it stops. False =
  /// perhaps one could.
  bool is_beyond_reach(VcState& vc, const cluster::Demand& demand, const QueueKey& key) {
    if (desk_.placement().draws() || desk_.fits(vc.vc, demand)) return false;
    if (vc.running.empty()) return true;
    if (knows_who_is_in_the_way(vc, demand)) {
      return !room(vc.vc).is_in_the_way(desk_.least(demand), bar(key));
    }
    desk_.refile_running(vc);
    eviction_.begin();
    auto next = victims_of(vc, bar(key));
    for (JobId job = next(); job != kNoJob; job = next()) eviction_.free(job, demand);
    const bool fits = desk_.fits(vc.vc, demand);
    eviction_.undo();
    return !fits;
  }

  /// What was stopped for the job of `key` may leave more than it takes. Those before it have had
  /// their turn, those behind it may reach for that.
  void look_again(VcState& vc, const QueueKey& key) {
    const bool any = beyond_reach_.erase_if(
        [&](const cluster::Demand& least) { return !is_beyond_reach(vc, least, key); });
    if (!any) return;
    const auto skips = [&](const cluster::Demand& demand) { return unmet_.rules_out(demand); };
    for (;;) {
      const WaitingQueue::Class* const next = first_past(vc.waiting, skips);
      if (next == nullptr || key < next->front) return;
      unmet_.add(next->demand);
    }
  }

  void let_join(VcState& vc) {
    waiting_.clear();
    for (WaitingQueue::Walk at(vc.waiting); !at.at_end(); at.advance()) {
      waiting_.push_back(at.job());
    }
    for (const JobId job : waiting_) {
      const auto grants = desk_.join(vc.vc, job);
      if (!grants.empty()) start(vc, room(vc.vc), job, grants);
    }
  }

  void start(VcState& vc, RoomByRank& room, JobId job, std::span<const cluster::Grant> grants) {
    desk_.start(vc, job, grants);
    room.enter(job, desk_.grants(job));
    started_[index(vc.vc)].push_back(job);
    expect_jump(job);
  }

  RoomByRank& room(VcId vc) {
    if (rooms_.size() <= index(vc)) {
      rooms_.resize(index(vc) + 1);
      started_.resize(index(vc) + 1);
    }
    if (!rooms_[index(vc)]) rooms_[index(vc)] = std::make_unique<RoomByRank>(desk_, vc);
    return *rooms_[index(vc)];
  }

  /// Sees to it that the next jump of a running job's rank is not missed.
  void expect_jump(JobId job) {
    const Duration jump = desk_.order().jumps_after(desk_.candidate(job));
    if (jump == kNoDuration) return;
    const Time at = desk_.now() + jump;
    if (jumps_.empty() || at < jumps_.top().at) desk_.plan().wake(at);
    jumps_.push({at, job, desk_.key(job).sequence});
  }

  /// Whether RoomByRank can say what to stop for a job of `demand`. A placement that draws is asked
  /// once a victim: see Placement::draws(). To stop a job with a part of a GPU may free none.
  bool knows_who_is_in_the_way(const VcState& vc, const cluster::Demand& demand) const {
    return !desk_.placement().draws() && !desk_.ledger().knows_parts() && !desk_.packs() &&
           desk_.placement().keeps_together(demand, desk_.ledger().pools(vc.vc));
  }

  /// Places a job after stopping some behind it; empty = changed nothing.
  std::span<const cluster::Grant> make_room(VcState& vc, RoomByRank& room,
                                            const WaitingQueue::Class& wanted,
                                            const QueueEntry& entry) {
    if (vc.running.empty()) return {};
    const QueueKey last = bar(entry.key);
    if (!knows_who_is_in_the_way(vc, wanted.demand)) {
      return make_room_anywhere(vc, room, wanted.demand, entry);
    }
    const auto in_the_way = room.in_the_way(wanted.id, desk_.least(entry.job), last);
    if (in_the_way.empty()) return {};
    eviction_.begin();
    for (const JobId victim : in_the_way) eviction_.free(victim, wanted.demand);
    const auto grants = desk_.place(vc.vc, wanted.demand);
    ALMANAC_CHECK(!grants.empty(), "job {} does not fit where {} others were", index(entry.job),
                  in_the_way.size());
    eviction_.settle();
    stop_victims(vc, room, entry.job);
    return grants;
  }

  /// Makes room for a job that may run on several nodes: tries again after each victim.
  std::span<const cluster::Grant> make_room_anywhere(VcState& vc, RoomByRank& room,
                                                     const cluster::Demand& demand,
                                                     const QueueEntry& entry) {
    const QueueKey last = bar(entry.key);
    desk_.refile_running(vc);
    if (!has_enough(vc, demand, last)) return {};
    const auto grants = eviction_.make_room(vc.vc, demand, victims_of(vc, last));
    stop_victims(vc, room, entry.job);
    return grants;
  }

  /// Whether so many GPUs are free, or held by jobs behind `bar`, wherever they are.
  bool has_enough(const VcState& vc, const cluster::Demand& demand, const QueueKey& bar) const {
    int gpus = desk_.ledger().free_gpus(vc.vc, demand);
    auto next = victims_of(vc, bar);
    for (JobId job = next(); job != kNoJob && gpus < demand.gpus; job = next()) {
      gpus += gpus_to_deal(desk_, job);
    }
    return gpus >= demand.gpus;
  }

  void stop_victims(VcState& vc, RoomByRank& room, JobId first) {
    for (const JobId job : eviction_.victims()) {
      room.leave(job, desk_.grants(job));
      desk_.stop_for(vc, job, first);
    }
  }

  bool started_now(JobId job) const { return desk_.view().progress(job).phase == Phase::waiting; }

  Desk& desk_;
  double margin_;
  std::vector<std::unique_ptr<RoomByRank>> rooms_;  // of each virtual cluster
  std::vector<std::vector<JobId>> started_;         // of each, in the last plan
  Eviction eviction_{desk_};
  Unmet unmet_;
  Unmet beyond_reach_;  // none has tried these: see give_up()
  std::vector<JobId> waiting_;
  std::vector<Jump> again_;  // of jobs whose rank has just jumped
  std::priority_queue<Jump, std::vector<Jump>, std::greater<>> jumps_;
};

}  // namespace

namespace pass {

void register_preempting(Registry& registry) {
  registry.passes.add(
      {.name = "by_rank",
       .summary = "preempts running jobs for waiting jobs that rank before them",
       .source = "Gu et al. NSDI'19",
       .traits = {.has = {Trait::stops_jobs, Trait::lets_join}, .bars = {Trait::revises_waiting}},
       .parameters = {number("margin",
                             "a job is stopped only if its rank is more than this many "
                             "times that of the job that needs its place",
                             1, 1, 1e6)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<PreemptingPass>(desk, told.number("margin"));
      });
}

}  // namespace pass
}  // namespace almanac::policy
