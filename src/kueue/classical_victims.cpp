// SPDX-License-Identifier: Apache-2.0

/// \file
/// Preemption without fair sharing: first from queues that use what the preemptor's side is
/// entitled to, then by priority, then from its own queue.
#include <algorithm>
#include <array>
#include <span>

#include "kueue/victims.h"

namespace almanac::kueue {
namespace {

/// Why a workload is a candidate, and on which terms.
enum class Terms : std::uint8_t {
  own_queue,
  by_place,           ///< The preemptor's side is entitled to the quota.
  by_lower_priority,  ///< The preemptor may borrow afterwards.
  without_borrowing,  ///< The preemptor may not borrow afterwards.
};

struct Candidate {
  Workload* workload = nullptr;
  NodeAt top = kNoNode;  ///< The lowest cohort of both queues.
  Terms terms = Terms::own_queue;
};

Reason reason_of(Terms terms) {
  switch (terms) {
    case Terms::own_queue:
      return Reason::in_cluster_queue;
    case Terms::by_lower_priority:
      return Reason::in_cohort_reclaim_while_borrowing;
    case Terms::by_place:
    case Terms::without_borrowing:
      break;
  }
  return Reason::in_cohort_reclamation;
}

class Classical {
 public:
  Classical(World& world, const Workload& preemptor, const std::vector<Slot>& needed,
            const Wants& wants)
      : world_(world),
        tree_(world.tree),
        preemptor_(preemptor),
        node_(preemptor.queue),
        queue_(*world.queues[preemptor.queue].declared),
        needed_(needed),
        wants_(wants) {}

  std::vector<Victim> find() {
    for (Workload* const each : world_.queues[node_].running) {
      if (is_candidate(*each, queue_.within_queue)) own_.push_back({each, kNoNode});
    }
    if (queue_.reclaim_within_cohort != Preempts::never) collect_in_cohorts();
    const bool has_others = !by_place_.empty() || !by_priority_.empty();
    const bool has_by_place = !by_place_.empty();
    std::vector<Candidate> candidates;
    for (std::vector<Candidate>* const each : {&by_place_, &by_priority_, &own_}) {
      std::sort(each->begin(), each->end(), [](const Candidate& a, const Candidate& b) {
        return is_preempted_before(*a.workload, *b.workload);
      });
      candidates.insert(candidates.end(), each->begin(), each->end());
    }
    const bool is_under_nominal = std::all_of(needed_.begin(), needed_.end(), [&](Slot slot) {
      return tree_.nominal(node_, slot) > tree_.used(node_, slot);
    });
    const bool is_forbidden = !queue_.preempts_while_borrowing;
    if (!has_others || (is_forbidden && !is_under_nominal)) return attempt(candidates, true);
    const bool borrows_first = !is_forbidden || has_by_place;
    std::vector<Victim> victims = attempt(candidates, borrows_first);
    return victims.empty() ? attempt(candidates, !borrows_first) : victims;
  }

 private:
  bool is_candidate(const Workload& running, Preempts policy) const {
    return !running.is_away && may_preempt(policy, preemptor_, running) &&
           uses_any(running, needed_);
  }

  /// Walks up. Once the subtree below has quota for the wants, the preemptor's side is entitled.
  void collect_in_cohorts() {
    Wants rest = wants_;
    bool is_entitled = tree_.fits(node_, rest);
    NodeAt below = kNoNode;
    for (NodeAt top = tree_.parent(node_); top != kNoNode; top = tree_.parent(top)) {
      collect(top, top, below, is_entitled);
      const bool fits = tree_.fits(top, rest);
      is_entitled = is_entitled || fits;
      below = top;
    }
  }

  /// Adds candidates of all queues below `node` but those below `done`.
  void collect(NodeAt node, NodeAt top, NodeAt done, bool is_entitled) {
    for (const NodeAt child : tree_.queues(node)) {
      if (child == node_ || tree_.is_within(child, needed_)) continue;
      for (Workload* const each : world_.queues[child].running) {
        if (!is_candidate(*each, queue_.reclaim_within_cohort)) continue;
        (is_entitled ? by_place_ : by_priority_)
            .push_back({each, top, is_entitled ? Terms::by_place : terms_of(*each)});
      }
    }
    for (const NodeAt child : tree_.cohorts(node)) {
      if (child != done && !tree_.is_within(child, needed_)) {
        collect(child, top, done, is_entitled);
      }
    }
  }

  Terms terms_of(const Workload& running) const {
    const auto& highest = queue_.highest_preempted_while_borrowing;
    const bool is_lower = queue_.preempts_while_borrowing && running.rank < preemptor_.rank &&
                          (!highest || running.rank <= *highest);
    return is_lower ? Terms::by_lower_priority : Terms::without_borrowing;
  }

  std::vector<Victim> attempt(const std::vector<Candidate>& candidates, bool may_borrow) {
    std::vector<Victim> victims;
    bool has_found = false;
    for (const Candidate& candidate : candidates) {
      if (!is_still_valid(candidate, may_borrow)) continue;
      world_.remove(*candidate.workload);
      victims.push_back({candidate.workload, reason_of(candidate.terms)});
      has_found = has_room(tree_, node_, wants_, may_borrow);
      if (has_found) break;
    }
    if (has_found) put_back_spared(world_, node_, wants_, may_borrow, victims);
    for (const Victim& victim : victims) world_.put_back(*victim.workload);
    if (!has_found) victims.clear();
    return victims;
  }

  /// Whether it still borrows after those that were removed before it.
  bool is_still_valid(const Candidate& candidate, bool may_borrow) const {
    if (candidate.terms == Terms::own_queue) return true;
    if (may_borrow && candidate.terms == Terms::without_borrowing) return false;
    for (NodeAt node = candidate.workload->queue; node != candidate.top;
         node = tree_.parent(node)) {
      if (tree_.is_within(node, needed_)) return false;
    }
    return true;
  }

  World& world_;
  QuotaTree& tree_;
  const Workload& preemptor_;
  NodeAt node_;
  const ClusterQueue& queue_;
  const std::vector<Slot>& needed_;
  const Wants& wants_;
  std::vector<Candidate> own_, by_place_, by_priority_;
};

}  // namespace

std::vector<Victim> find_classical_victims(World& world, const Workload& workload,
                                           const std::vector<Slot>& needed, const Wants& wants) {
  return Classical(world, workload, needed, wants).find();
}

}  // namespace almanac::kueue
