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

/// The candidates of a queue that are left, in the order of preemption.
struct Source {
  Running::const_iterator next{};
  Running::const_iterator end{};
  Preempts policy{};
  NodeAt top = kNoNode;      ///< The lowest cohort of both queues; kNoNode = its own queue.
  bool is_entitled = false;  ///< The preemptor's side is entitled to the quota.
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
    add(own_, node_, queue_.within_queue, kNoNode, false);
    if (queue_.reclaim_within_cohort != Preempts::never) collect_in_cohorts();
    const bool has_others = !by_place_.empty() || !by_priority_.empty();
    if (!has_others && own_.empty()) return {};
    const bool has_by_place = !by_place_.empty();
    const bool is_under_nominal = std::all_of(needed_.begin(), needed_.end(), [&](Slot slot) {
      return tree_.nominal(node_, slot) > tree_.used(node_, slot);
    });
    const bool is_forbidden = !queue_.preempts_while_borrowing;
    if (!has_others || (is_forbidden && !is_under_nominal)) return attempt(true);
    const bool borrows_first = !is_forbidden || has_by_place;
    std::vector<Victim> victims = attempt(borrows_first);
    return victims.empty() ? attempt(!borrows_first) : victims;
  }

 private:
  /// Adds the candidates of a queue, if it has some.
  void add(std::vector<Source>& sources, NodeAt queue, Preempts policy, NodeAt top,
           bool is_entitled) {
    if (policy == Preempts::never) return;
    const Running& running = world_.queues[queue].running;
    Source made{running.begin(), running.end(), policy, top, is_entitled};
    if (skip_others(made)) sources.push_back(made);
  }

  /// Moves to the next candidate, which may be the present one; false = there is none.
  bool skip_others(Source& source) const {
    for (; source.next != source.end; ++source.next) {
      const Workload& running = **source.next;
      // Ranks rise from here on.
      if (source.policy != Preempts::any && running.rank > preemptor_.rank) return false;
      if (source.policy == Preempts::lower_priority && running.rank == preemptor_.rank) {
        return false;
      }
      if (!running.is_away && may_preempt(source.policy, preemptor_, running) &&
          uses_any(running, needed_)) {
        return true;
      }
    }
    return false;
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
      add(is_entitled ? by_place_ : by_priority_, child, queue_.reclaim_within_cohort, top,
          is_entitled);
    }
    for (const NodeAt child : tree_.cohorts(node)) {
      if (child != done && !tree_.is_within(child, needed_)) {
        collect(child, top, done, is_entitled);
      }
    }
  }

  /// The terms on which the next of a source is a candidate.
  Terms terms_of(const Source& source) const {
    if (source.top == kNoNode) return Terms::own_queue;
    if (source.is_entitled) return Terms::by_place;
    const Workload& running = **source.next;
    const auto& highest = queue_.highest_preempted_while_borrowing;
    const bool is_lower = queue_.preempts_while_borrowing && running.rank < preemptor_.rank &&
                          (!highest || running.rank <= *highest);
    return is_lower ? Terms::by_lower_priority : Terms::without_borrowing;
  }

  /// Removes candidates until there is room: those of other queues first.
  std::vector<Victim> attempt(bool may_borrow) {
    std::vector<Victim> victims;
    const bool has_found = remove(by_place_, may_borrow, victims) ||
                           remove(by_priority_, may_borrow, victims) ||
                           remove(own_, may_borrow, victims);
    if (has_found) put_back_spared(world_, node_, wants_, may_borrow, victims);
    for (const Victim& victim : victims) world_.put_back(*victim.workload);
    if (!has_found) victims.clear();
    return victims;
  }

  /// Removes those of `sources` in the order of preemption. Returns whether there is room then.
  /// Cost: O(log q) for each that is removed, for q sources.
  bool remove(std::vector<Source> sources, bool may_borrow, std::vector<Victim>& victims) {
    const auto is_later = [](const Source& a, const Source& b) {
      return is_preempted_before(**b.next, **a.next);
    };
    std::make_heap(sources.begin(), sources.end(), is_later);
    while (!sources.empty()) {
      std::pop_heap(sources.begin(), sources.end(), is_later);
      Source& source = sources.back();
      const Terms terms = terms_of(source);
      // Those behind it have no lower rank, so the terms of none are better.
      const bool is_barred = may_borrow && terms == Terms::without_borrowing;
      if (is_barred || !still_borrows(source)) {
        sources.pop_back();
        continue;
      }
      Workload& candidate = **source.next;
      ++source.next;
      if (skip_others(source)) {
        std::push_heap(sources.begin(), sources.end(), is_later);
      } else {
        sources.pop_back();
      }
      world_.remove(candidate);
      victims.push_back({&candidate, reason_of(terms)});
      if (has_room(tree_, node_, wants_, may_borrow)) return true;
    }
    return false;
  }

  /// Whether its queue, and all cohorts below the common one, still borrow after those that were
  /// removed. Once they do not, they never do again.
  bool still_borrows(const Source& source) const {
    if (source.top == kNoNode) return true;
    for (NodeAt node = (*source.next)->queue; node != source.top; node = tree_.parent(node)) {
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
  std::vector<Source> own_, by_place_, by_priority_;
};

}  // namespace

std::vector<Victim> find_classical_victims(World& world, const Workload& workload,
                                           const std::vector<Slot>& needed, const Wants& wants) {
  return Classical(world, workload, needed, wants).find();
}

}  // namespace almanac::kueue
