// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waiting jobs, and the questions that scheduling asks of them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/ledger.h"
#include "policy/kit/desk/class_tree.h"
#include "policy/kit/desk/ranked_queue.h"

namespace almanac::policy {

/// The waiting jobs of one virtual cluster, filed by demand: jobs of equal demand fit together or
/// not at all, so each question is asked once a demand and not once a job. The demands for one
/// number of GPUs form a tree, so that a search need not look at each of them either, should they
/// all differ. As long as there are few, each is looked at: that costs less than trees do.
class WaitingQueue {
 public:
  struct Class {
    DemandId id{};
    cluster::Demand demand{};
    QueueKey front{};  ///< Of jobs, while there are any.
    RankedQueue jobs{};
    bool is_aside = false;
    RankedQueue aside{};          ///< Its jobs while it is aside.
    mutable Duration believed{};  ///< No job is believed to run for less: see tighten().
    std::uint32_t tree = 0;       ///< Where it is filed, if there are trees.
    std::uint32_t leaf = 0;
  };
  /// A class and an entry of its jobs; null = there is none. Valid until the queue changes.
  struct Found {
    const Class* from = nullptr;
    const QueueEntry* entry = nullptr;
  };

  /// Cost: O(log demands) beside that of the RankedQueue. Demands for which no job waits are
  /// dropped, all at once when they may be most of all, unless they claim a quota.
  void insert(DemandId id, const cluster::Demand& demand, const QueueEntry& entry);
  void erase(DemandId id, const QueueKey& key);
  /// Puts a demand that is one of classes() aside, or back: as long as it is aside no job of it
  /// counts as waiting.
  void set_aside(DemandId id, bool aside);
  bool is_aside(DemandId id) const;
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The class whose front is the first of all; there must be one. O(1).
  const Class& first() const { return classes_[first_]; }
  /// The demands in order of having come here; some may be empty.
  const std::vector<Class>& classes() const { return classes_; }
  /// The least of what `ask(class)` gives, an entry or null, over the demands but for those of
  /// which `skips(demand)`: that must hold of a demand if it holds of one that it covers.
  template <typename Skips, typename Ask>
  Found first_of(Skips&& skips, Ask&& ask) const;
  /// Calls `look` with the classes for which a job waits, fewest GPUs first and as many in order
  /// of classes(), but for the parts of a tree of which `skips(part)`.
  template <typename Skips, typename Look>
  void visit(Skips&& skips, Look&& look) const;
  /// Whether each demand is looked at: to ask for what several have in common is not worth it.
  bool has_few_demands() const { return !has_trees(); }
  /// What the demand of a class would be with as little beside its GPUs as any job asks that waits
  /// for as many; where demands are not few.
  cluster::Demand least_like(const Class& own) const;
  /// Looks up how briefly jobs of a class are believed to run: of those that have left nothing is
  /// forgotten until then.
  void tighten(const Class& own) const {
    own.believed = own.jobs.least_believed();
    if (has_trees()) trees_[own.tree].tighten(own.leaf, own.believed);
  }
  /// The entry that follows `key` over all classes; null = none. O(demands with jobs before that).
  const QueueEntry* next(const QueueKey& key) const;
  /// Goes through all jobs in order, of some demands no further than its owner likes; any change of
  /// the queue ends its life. O(demands) to begin, O(log demands) a step.
  class Walk {
   public:
    explicit Walk(const WaitingQueue& queue);
    bool at_end() const { return lines_.empty(); }
    JobId job() const { return lines_.front().at.get()->job; }
    const QueueKey& key() const { return lines_.front().at.get()->key; }
    const cluster::Demand& demand() const { return lines_.front().from->demand; }
    void advance();
    /// The same past all jobs of this demand.
    void leave_out();

   private:
    struct Line {
      const Class* from;
      RankedQueue::Cursor at;
    };
    static bool is_later(const Line& a, const Line& b) { return b.at.get()->key < a.at.get()->key; }

    std::vector<Line> lines_;  // a heap: that of the first job is in front
  };

 private:
  /// Demands that are kept, whether a job waits for them or not.
  static constexpr std::size_t kKept = 1024;
  /// Demands up to which each is looked at: about where both cost the same.
  static constexpr std::size_t kFew = 16;

  bool has_trees() const { return !trees_.empty(); }
  void add_class(DemandId id, const cluster::Demand& demand);
  /// Files a class that is one of classes_; the one too many plants trees.
  void file(Class& own);
  void file_in_tree(Class& own);
  ClassTree::Node node_of(const Class& own) const {
    return {.front = own.front,
            .first = static_cast<std::uint32_t>(&own - classes_.data()),
            .believed = own.believed,
            .least = own.demand};
  }
  void drop_empty();
  void find_first();

  std::vector<Class> classes_;
  std::vector<std::uint32_t> by_gpus_;   // positions in classes_, while there are few
  std::vector<ClassTree> trees_;         // by GPUs, where there are more
  std::vector<std::uint32_t> position_;  // of each DemandId in classes_, or kAbsent
  std::uint32_t first_ = 0;              // position of first(), while any job waits
  std::size_t size_ = 0;
  std::size_t most_classes_ = kKept;  // before those that are empty are dropped
};

template <typename Skips, typename Ask>
WaitingQueue::Found WaitingQueue::first_of(Skips&& skips, Ask&& ask) const {
  Found best;
  QueueKey least = kNobody;
  const auto skips_all = [&](const ClassTree::Node& node) {
    return !(node.front < least) || skips(node.least);
  };
  const auto is_best = [&](const Class& own) {
    if (skips(own.demand)) return false;
    const QueueEntry* const entry = ask(own);
    if (entry == nullptr || !(entry->key < least)) return false;
    best = {&own, entry};
    least = entry->key;
    return entry == &own.jobs.front();
  };
  // Where the first of all may go no other need be asked.
  if (empty() || is_best(first())) return best;
  if (!has_trees()) {
    for (const Class& own : classes_) {
      if (&own != &first() && !own.jobs.empty() && own.front < least) is_best(own);
    }
    return best;
  }
  for (const ClassTree& tree : trees_) {
    tree.find(first_, skips_all, [&](std::uint32_t number) { return is_best(classes_[number]); });
  }
  return best;
}

template <typename Skips, typename Look>
void WaitingQueue::visit(Skips&& skips, Look&& look) const {
  for (const std::uint32_t number : by_gpus_) {
    const Class& own = classes_[number];
    if (own.jobs.empty()) continue;
    if (!skips(ClassTree::Part{own.front, own.believed, own.demand})) look(own);
  }
  for (const ClassTree& tree : trees_) {
    tree.visit(skips, [&](std::uint32_t number) { look(classes_[number]); });
  }
}

}  // namespace almanac::policy
