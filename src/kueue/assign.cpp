// SPDX-License-Identifier: Apache-2.0
#include "kueue/assign.h"

#include <algorithm>
#include <limits>

namespace almanac::kueue {
namespace {

/// How good a flavor is: that of its worst resource.
struct Grade {
  Fit fit = Fit::none;
  int level = std::numeric_limits<int>::max();
};

bool is_better(const ClusterQueue& queue, const Grade& a, const Grade& b) {
  if (a.fit == Fit::none) return false;
  if (b.fit == Fit::none) return true;
  if ((a.fit == Fit::no_candidates) != (b.fit == Fit::no_candidates)) {
    return b.fit == Fit::no_candidates;
  }
  if (queue.prefers_preemption_over_borrowing && a.level != b.level) return a.level < b.level;
  if (a.fit != b.fit) return a.fit > b.fit;
  return a.level < b.level;
}

class Search {
 public:
  Search(World& world, Workload& workload, std::uint64_t cycle, const Assignment* only)
      : world_(world),
        workload_(workload),
        queue_(world.queues[workload.queue]),
        declared_(*queue_.declared),
        cycle_(cycle),
        only_(only) {}

  /// Returns nothing if it neither fits nor finds victims; `assignment` is then what was found, and
  /// moved from otherwise.
  std::optional<Nomination> attempt(std::span<const int> counts, Assignment& assignment) {
    assignment = assign(counts);
    const Fit fit = assignment.fit();
    if (fit == Fit::now) return Nomination{std::move(assignment), {}};
    if (fit != Fit::preempt) return std::nullopt;
    const std::vector<Victim>& victims = victims_for(preempted_slots(assignment), assignment.usage);
    if (victims.empty()) return std::nullopt;
    return Nomination{std::move(assignment), victims};
  }

 private:
  Assignment assign(std::span<const int> counts);
  /// Adds choices for all resources of a group; false = no flavor is possible.
  bool choose(std::size_t pod_set, const Queue::Group& group, ResourceAt resource,
              const std::vector<std::pair<ResourceAt, Amount>>& wants, const Wants& usage,
              PodSetChoice& made);
  Grade grade(Slot slot, Amount amount);
  /// find_victims(), but a request for one resource is searched once: its flavor is graded by the
  /// same victims.
  const std::vector<Victim>& victims_for(std::vector<Slot> needed, Wants wants);
  /// Height of the smallest subtree whose quota suffices, and whether there is a cohort above it.
  std::pair<int, bool> lending_level(Slot slot, Amount amount) const;

  std::vector<Slot> preempted_slots(const Assignment& assignment) const {
    std::vector<Slot> slots;
    for (const PodSetChoice& each : assignment.pod_sets) {
      for (const Choice& choice : each.choices) {
        if (choice.fit == Fit::now || choice.fit == Fit::none) continue;
        slots.push_back(world_.tree.slot(choice.flavor, choice.resource));
      }
    }
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    return slots;
  }

  World& world_;
  Workload& workload_;
  const Queue& queue_;
  const ClusterQueue& declared_;
  std::uint64_t cycle_;
  const Assignment* only_;
  struct Found {
    std::vector<Slot> needed;
    Wants wants;
    std::vector<Victim> victims;
  };
  std::optional<Found> found_{};  ///< By the last search.
};

Assignment Search::assign(std::span<const int> counts) {
  Assignment made{.counts = {counts.begin(), counts.end()},
                  .generation = queue_.generation,
                  .cycle = cycle_,
                  .shape = workload_.shape()};
  for (std::size_t at = 0; at < workload_.pod_sets.size(); ++at) {
    const Pods& pods = workload_.pod_sets[at];
    const auto wants = World::wants_of(pods, counts[at]);
    PodSetChoice chosen;
    bool is_possible = !pods.asks_unknown || counts[at] == 0;
    for (const auto& [resource, amount] : wants) {
      if (!is_possible) break;
      const bool is_chosen = std::any_of(
          chosen.choices.begin(), chosen.choices.end(),
          [&, wanted = resource](const Choice& each) { return each.resource == wanted; });
      if (is_chosen) continue;
      const Queue::Group* const group = queue_.group_of(resource);
      if (group == nullptr && amount == 0) continue;
      is_possible = group != nullptr && choose(at, *group, resource, wants, made.usage, chosen);
    }
    if (!is_possible) {
      chosen.choices.clear();
      chosen.fits = false;
    }
    for (const Choice& choice : chosen.choices) {
      made.level = std::max(made.level, choice.level);
      const auto want = std::find_if(wants.begin(), wants.end(), [&](const auto& each) {
        return each.first == choice.resource;
      });
      add(made.usage, world_.tree.slot(choice.flavor, choice.resource), want->second);
    }
    made.pod_sets.push_back(std::move(chosen));
    if (!is_possible) break;
  }
  return made;
}

bool Search::choose(std::size_t pod_set, const Queue::Group& group, ResourceAt resource,
                    const std::vector<std::pair<ResourceAt, Amount>>& wants, const Wants& usage,
                    PodSetChoice& made) {
  const auto chosen_in = [&](const Assignment& of) -> const Choice* {
    if (pod_set >= of.pod_sets.size()) return nullptr;
    const std::vector<Choice>& choices = of.pod_sets[pod_set].choices;
    const auto found = std::find_if(choices.begin(), choices.end(),
                                    [&](const Choice& each) { return each.resource == resource; });
    return found != choices.end() ? &*found : nullptr;
  };
  std::size_t at = 0;
  if (workload_.last) {
    if (const Choice* const last = chosen_in(*workload_.last)) {
      at = static_cast<std::size_t>(last->tried + 1);
    }
  }
  std::vector<Choice> best;
  Grade best_grade;
  int tried = -1;
  for (; at < group.flavors.size(); ++at) {
    const FlavorAt flavor = group.flavors[at];
    tried = static_cast<int>(at);
    if (only_ != nullptr) {
      const Choice* const allowed = chosen_in(*only_);
      if (allowed == nullptr || allowed->flavor != flavor) continue;
    }
    if (!workload_.pod_sets[pod_set].suits[flavor]) continue;
    Grade worst{Fit::now, 0};
    std::vector<Choice> choices;
    for (const auto& [wanted, amount] : wants) {
      if (!group.covers[wanted]) continue;
      const Slot slot = world_.tree.slot(flavor, wanted);
      const Grade one = grade(slot, amount_of(usage, slot) + amount);
      if (is_better(declared_, worst, one)) worst = one;
      choices.push_back({wanted, flavor, one.fit, one.level});
    }
    const bool preempts = worst.fit == Fit::preempt || worst.fit == Fit::reclaim;
    const bool goes_on =
        worst.fit == Fit::none || worst.fit == Fit::no_candidates ||
        (preempts && declared_.when_can_preempt == Fungibility::try_next_flavor) ||
        (worst.level > 0 && declared_.when_can_borrow == Fungibility::try_next_flavor);
    if (!goes_on || is_better(declared_, worst, best_grade)) {
      best = std::move(choices);
      best_grade = worst;
    }
    if (!goes_on) break;
  }
  if (best.empty()) return false;
  const bool are_all_tried = tried == static_cast<int>(group.flavors.size()) - 1;
  for (Choice& choice : best) {
    choice.tried = are_all_tried ? -1 : tried;
    made.choices.push_back(choice);
  }
  made.fits = made.fits && best_grade.fit == Fit::now;
  return true;
}

Grade Search::grade(Slot slot, Amount amount) {
  const QuotaTree& tree = world_.tree;
  const NodeAt node = workload_.queue;
  if (amount > tree.most(node, slot)) return {Fit::none, 0};
  const auto [level, may_reclaim] = lending_level(slot, amount);
  if (amount <= std::max<Amount>(0, tree.left(node, slot))) return {Fit::now, level};
  const bool preempts_while_borrowing =
      declared_.preempts_while_borrowing ||
      (world_.setup.is_fair && declared_.reclaim_within_cohort != Preempts::never);
  if (tree.nominal(node, slot) < amount && !may_reclaim && !preempts_while_borrowing) {
    return {Fit::none, level};
  }
  const std::vector<Victim>& victims = victims_for({slot}, {{slot, amount}});
  if (victims.empty()) return {Fit::no_candidates, level};
  bool are_of_others = true;
  for (const Victim& victim : victims) {
    world_.remove(*victim.workload);
    are_of_others = are_of_others && victim.workload->queue != workload_.queue;
  }
  const int level_after = lending_level(slot, amount).first;
  for (const Victim& victim : victims) world_.put_back(*victim.workload);
  return {are_of_others ? Fit::reclaim : Fit::preempt, level_after};
}

const std::vector<Victim>& Search::victims_for(std::vector<Slot> needed, Wants wants) {
  const auto is_same = [](const Want& a, const Want& b) {
    return a.slot == b.slot && a.amount == b.amount;
  };
  if (!found_ || found_->needed != needed || !std::ranges::equal(found_->wants, wants, is_same)) {
    auto victims = find_victims(world_, workload_, needed, wants);
    found_ = {std::move(needed), std::move(wants), std::move(victims)};
  }
  return found_->victims;
}

std::pair<int, bool> Search::lending_level(Slot slot, Amount amount) const {
  const QuotaTree& tree = world_.tree;
  NodeAt node = workload_.queue;
  if (!tree.borrows(node, slot, amount) || tree.parent(node) == kNoNode) {
    return {0, tree.parent(node) != kNoNode};
  }
  Amount rest = amount - tree.own_left(node, slot);
  while (tree.parent(node) != kNoNode) {
    node = tree.parent(node);
    if (!tree.borrows(node, slot, rest)) return {tree.height(node), tree.parent(node) != kNoNode};
    rest -= tree.own_left(node, slot);
  }
  return {tree.height(node), false};
}

}  // namespace

Nomination nominate(World& world, Workload& workload, std::uint64_t cycle, const Assignment* only) {
  const Queue& queue = world.queues[workload.queue];
  if (workload.last) {
    const bool may_be_free =
        cycle - workload.last->cycle > 1 && queue.generation > workload.last->generation;
    if (workload.last->shape != workload.shape() || may_be_free) workload.last.reset();
  }
  Search search(world, workload, cycle, only);
  std::vector<int> counts;
  std::int64_t spare = 0;
  for (const Pods& pods : workload.pod_sets) {
    counts.push_back(pods.count);
    spare += pods.spare;
  }
  Assignment whole;
  if (auto made = search.attempt(counts, whole)) return *std::move(made);
  // The most pods that can be had: halves what all sets give up together, each in proportion.
  std::int64_t low = 0;
  std::int64_t high = spare + 1;
  std::optional<Nomination> best;
  std::int64_t best_at = -1;
  while (spare > 0 && low < high) {
    const std::int64_t middle = (low + high) / 2;
    std::vector<int> fewer;
    for (const Pods& pods : workload.pod_sets) {
      fewer.push_back(pods.count - static_cast<int>(pods.spare * middle / spare));
    }
    Assignment ignored;
    if (auto made = search.attempt(fewer, ignored)) {
      high = best_at = middle;
      best = std::move(made);
    } else {
      low = middle + 1;
    }
  }
  if (best && best_at == low) return *std::move(best);
  return {std::move(whole), {}};
}

}  // namespace almanac::kueue
