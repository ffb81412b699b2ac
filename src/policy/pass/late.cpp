// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps GPUs for deadlines that can be met, and lends them to late jobs.
///
///   1 Jobs whose deadlines can be met start in order. If one can be placed only when late jobs of
///     its own or a lower priority tier stop, these stop: the lowest tier first, in a tier those
///     that lose the least work (kit/least_loss.h).
///   2 Once such a job cannot be placed, others pass it only if they are expected to end before it
///     can start.
///   3 Late jobs start wherever they fit.
///
/// A job that could meet its deadline when it started is not stopped.
///
/// Source   Our own; docs/guide/qos.md compares it with Chen et al., TPDS'20 (GENIE), which stops
///          no job. Rule 2 is that of Lifka, JSSPP'95 (EASY), for jobs that end in time.
/// Cost     O(running late jobs) per start that needs room, O(running jobs) when a job is blocked
#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "policy/contract/may_stop.h"
#include "policy/kit/desk.h"
#include "policy/kit/eviction.h"
#include "policy/kit/least_loss.h"
#include "policy/kit/start_each.h"
#include "policy/order/promise.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class LatePass final : public Pass {
 public:
  explicit LatePass(Desk& desk) : desk_(desk) {}

  PassNeeds needs() const override {
    return {.running = RunningRank::believed_end, .run_times = true};
  }

  void adopted(VcState& vc, JobId job) override {
    const trace::Request& request = desk_.view().request(job);
    const bool at_once = request.deadline <= request.submit;
    const bool in_time = at_once || desk_.believed_end(job) <= request.deadline;
    if (request.deadline == kNoTime || !in_time) lend(vc, job);
  }

  void ended(VcState& vc, JobId job) override { std::erase(lent(vc.vc), job); }

  void run(VcState& vc) override {
    const std::size_t stops = desk_.plan().num_stops();
    const auto ask = [](const WaitingQueue::Class& each) { return first_in_time(each.jobs); };
    const auto skips_none = [](const cluster::Demand&) { return false; };
    for (;;) {
      const WaitingQueue::Found next = vc.waiting.first_of(skips_none, ask);
      if (next.entry == nullptr) break;
      const cluster::Demand demand = next.from->demand;
      auto grants = desk_.place(vc.vc, demand);
      if (grants.empty()) grants = make_room(vc, demand, *next.entry);
      if (grants.empty()) {
        let_pass(vc, start_of(vc, demand));
        break;
      }
      desk_.start(vc, *next.entry, grants);
    }
    lend(vc);
    // A job that was stopped may fit elsewhere.
    if (desk_.plan().num_stops() > stops) desk_.plan().wake(desk_.now());
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  std::vector<JobId>& lent(VcId vc) {
    if (lent_.size() <= index(vc)) lent_.resize(index(vc) + 1);
    return lent_[index(vc)];
  }

  /// Places a job after stopping late ones of no higher tier, the lowest tier first; empty =
  /// changed nothing.
  std::span<const cluster::Grant> make_room(VcState& vc, const cluster::Demand& demand,
                                            const QueueEntry& first) {
    std::vector<JobId>& running = lent(vc.vc);
    std::vector<JobId> may_go;
    std::copy_if(running.begin(), running.end(), std::back_inserter(may_go),
                 [&](JobId job) { return desk_.view().tier(job) <= first.key.tier; });
    sort_by_loss(may_go, desk_.view());
    const auto grants = eviction_.make_room_from(vc.vc, demand, may_go);
    const std::span<const JobId> victims = eviction_.victims();
    // The job that stopped last is the first to wait again.
    for (std::size_t at = victims.size(); at-- > 0;) {
      desk_.stop_for(vc, victims[at], first.job);
      std::erase(running, victims[at]);
    }
    return grants;
  }

  /// When a job that cannot be placed now is believed to start: once enough of those that run have
  /// ended, the late ones stopped.
  Time start_of(const VcState& vc, const cluster::Demand& demand) {
    const std::size_t before = desk_.ledger().mark();
    const std::vector<JobId>& late = lent(vc.vc);
    for (const JobId job : late) desk_.give_back(job);
    Time start = Time::max();
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      const JobId job = at.get()->job;
      if (std::find(late.begin(), late.end(), job) != late.end()) continue;
      desk_.give_back(job);
      if (!desk_.fits(vc.vc, demand)) continue;
      start = desk_.believed_end(job);
      break;
    }
    desk_.ledger().undo(before);
    return start;
  }

  /// Starts jobs whose deadlines can be met and that are believed to end by `until`.
  void let_pass(VcState& vc, Time until) {
    if (until <= desk_.now()) return;
    start_each(desk_, vc, [&](const RankedQueue& jobs) {
      const QueueEntry* const brief = jobs.first_within(until - desk_.now());
      return brief != nullptr && brief->key.rank < order::kLate ? brief : nullptr;
    });
  }

  void lend(VcState& vc) {
    for (const JobId job : start_each(desk_, vc, first_late)) lend(vc, job);
  }
  void lend(const VcState& vc, JobId job) {
    if (may_stop(desk_.view().request(job), Stops::all)) lent(vc.vc).push_back(job);
  }

  // In each tier, jobs that are late follow those whose deadlines can be met.
  static const QueueEntry* first_in_time(const RankedQueue& jobs) {
    const QueueEntry* at = &jobs.front();
    while (at != nullptr && at->key.rank >= order::kLate) {
      QueueKey last_of_tier = kNobody;
      last_of_tier.tier = at->key.tier;
      at = jobs.next(last_of_tier);
    }
    return at;
  }
  static const QueueEntry* first_late(const RankedQueue& jobs) {
    constexpr double kLeast = -std::numeric_limits<double>::infinity();
    const QueueEntry* at = &jobs.front();
    while (at != nullptr && at->key.rank < order::kLate) {
      at = jobs.next({.rank = order::kLate, .tie = kLeast, .tier = at->key.tier});
    }
    return at;
  }

  Desk& desk_;
  Eviction eviction_{desk_};
  std::vector<std::vector<JobId>> lent_;  // late jobs that run and may be stopped, by VcId
};

}  // namespace

namespace pass {

void register_late(Registry& registry) {
  registry.passes.add(
      {.name = "late",
       .summary = "jobs that are already late yield to jobs whose deadlines can be met",
       .source = "docs/guide/qos.md",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::stops_jobs},
                  .needs = {Trait::ranks_late_apart}}},
      [](const Parameters&, Desk& desk) { return std::make_unique<LatePass>(desk); });
}

}  // namespace pass
}  // namespace almanac::policy
