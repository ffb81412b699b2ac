// SPDX-License-Identifier: Apache-2.0

/// \file
/// Preemption with fair sharing. The queue that borrows most for its weight gives up workloads
/// while the preemptor's share stays below theirs.
#include <algorithm>
#include <span>

#include "kueue/turns.h"
#include "kueue/victims.h"

namespace almanac::kueue {
namespace {

class Fair {
 public:
  Fair(World& world, const Workload& preemptor, const std::vector<Slot>& needed, const Wants& wants)
      : world_(world),
        tree_(world.tree),
        preemptor_(preemptor),
        node_(preemptor.queue),
        needed_(needed),
        wants_(wants) {}

  std::vector<Victim> find() {
    tree_.take(node_, wants_);  // shares count with it
    std::vector<Workload*> candidates;
    if (may_find_a_first()) candidates = this->candidates();
    std::vector<Workload*> again;
    const bool has_found =
        !candidates.empty() && (by_final_share(candidates, again) || by_initial_share(again));
    tree_.give_back(node_, wants_);
    if (has_found) put_back_spared(world_, node_, wants_, true, victims_);
    for (const Victim& victim : victims_) world_.put_back(*victim.workload);
    if (!has_found) victims_.clear();
    return std::move(victims_);
  }

 private:
  bool is_within_nominal() const {
    return std::none_of(needed_.begin(), needed_.end(),
                        [&](Slot slot) { return tree_.borrows(node_, slot); });
  }
  bool borrows_needed(QueueAt other) const {
    return std::any_of(needed_.begin(), needed_.end(),
                       [&](Slot slot) { return tree_.borrows(other, slot); });
  }

  /// Whether any workload can be the first victim, as far as shares say. Both rules compare the
  /// preemptor's share with that of a victim's side, which only falls without the victim.
  bool may_find_a_first() const {
    const ClusterQueue& queue = *world_.queues[node_].declared;
    if (queue.within_queue != Preempts::never) return true;
    if (tree_.parent(node_) == kNoNode || queue.reclaim_within_cohort == Preempts::never) {
      return false;
    }
    if (is_within_nominal()) return true;
    const std::span<const QueueAt> others = tree_.queues_below(tree_.root(node_));
    return std::any_of(others.begin(), others.end(), [&](QueueAt other) {
      if (other == node_ || !borrows_needed(other)) return false;
      const auto [ours, theirs] = below_common(tree_, node_, other);
      return tree_.share(ours).key() <= tree_.share(theirs).key();
    });
  }

  /// Returns the candidates; those of one queue are in the order of preemption.
  std::vector<Workload*> candidates() const {
    const ClusterQueue& queue = *world_.queues[node_].declared;
    std::vector<Workload*> made;
    const auto add_of = [&](QueueAt at, Preempts policy) {
      if (policy == Preempts::never) return;
      for (Workload* const each : world_.queues[at].running) {
        if (!each->is_away && may_preempt(policy, preemptor_, *each) && uses_any(*each, needed_)) {
          made.push_back(each);
        }
      }
    };
    add_of(node_, queue.within_queue);
    if (tree_.parent(node_) != kNoNode && queue.reclaim_within_cohort != Preempts::never) {
      for (const QueueAt other : tree_.queues_below(tree_.root(node_))) {
        if (other != node_ && borrows_needed(other)) add_of(other, queue.reclaim_within_cohort);
      }
    }
    return made;
  }

  /// Removes a victim. Returns whether that is enough.
  bool remove(Workload& victim, Reason reason) {
    world_.remove(victim);
    victims_.push_back({&victim, reason});
    tree_.give_back(node_, wants_);
    const bool is_enough = has_room(tree_, node_, wants_, true);
    tree_.take(node_, wants_);
    return is_enough;
  }

  /// LessThanOrEqualToFinalShare: the preemptor's share is at most that of the victim's side
  /// without the victim. Others go to `again`.
  bool by_final_share(const std::vector<Workload*>& candidates, std::vector<Workload*>& again) {
    const bool is_within_nominal = this->is_within_nominal();
    Turns turns(world_, node_, candidates);
    for (NodeAt target = turns.next(); target != kNoNode; target = turns.next()) {
      if (target == node_) {
        if (remove(turns.take(target), Reason::in_cluster_queue)) return true;
        continue;
      }
      if (is_within_nominal) {
        if (remove(turns.take(target), Reason::in_cohort_reclamation)) return true;
        continue;
      }
      const auto [ours, theirs] = below_common(tree_, node_, target);
      const auto our_key = tree_.share(ours).key();
      const bool is_above = our_key > tree_.share(theirs).key();
      while (turns.has_left(target)) {
        Workload& victim = turns.take(target);
        if (is_above) {
          again.push_back(&victim);
          continue;
        }
        world_.remove(victim);
        const auto their_key = tree_.share(theirs).key();
        world_.put_back(victim);
        if (our_key <= their_key) {
          if (remove(victim, Reason::in_cohort_fair_sharing)) return true;
          break;
        }
        again.push_back(&victim);
      }
    }
    return false;
  }

  /// LessThanInitialShare: the preemptor's share is below that of the victim's side as it is.
  bool by_initial_share(const std::vector<Workload*>& candidates) {
    Turns turns(world_, node_, candidates);
    for (NodeAt target = turns.next(); target != kNoNode; target = turns.next()) {
      const auto [ours, theirs] = below_common(tree_, node_, target);
      Workload& victim = turns.take(target);
      if (tree_.share(ours).key() < tree_.share(theirs).key() &&
          remove(victim, Reason::in_cohort_fair_sharing)) {
        return true;
      }
      turns.drop(target);
    }
    return false;
  }

  World& world_;
  QuotaTree& tree_;
  const Workload& preemptor_;
  QueueAt node_;
  const std::vector<Slot>& needed_;
  const Wants& wants_;
  std::vector<Victim> victims_;
};

}  // namespace

std::vector<Victim> find_fair_victims(World& world, const Workload& workload,
                                      const std::vector<Slot>& needed, const Wants& wants) {
  return Fair(world, workload, needed, wants).find();
}

}  // namespace almanac::kueue
