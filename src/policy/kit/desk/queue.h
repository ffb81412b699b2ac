// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waiting jobs, and the queries that scheduling needs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/ledger.h"
#include "policy/kit/desk/class_tree.h"
#include "policy/kit/desk/ranked_queue.h"

namespace almanac::policy {

/// The waiting jobs of one virtual cluster, filed by demand. Jobs of equal demand fit together or
/// not at all, so each query runs once per demand instead of per job. The demands for one number of
/// GPUs form a tree, so a search need not look at each of them even if they all differ. While there
/// are few, it looks at each: that is cheaper than trees.
class WaitingQueue {
 public:
  struct Class {
    DemandId id{};
    cluster::Demand demand{};
    QueueKey front{};  ///< Of `jobs`, if there are any.
    RankedQueue jobs{};
    bool is_aside = false;
    RankedQueue aside{};          ///< Its jobs while it is aside.
    mutable Duration believed{};  ///< Lower bound of the estimated run times; see tighten().
    std::uint32_t tree = 0;       ///< Its position, if there are trees.
    std::uint32_t leaf = 0;
  };
  /// A class and an entry of its jobs; null if there is none. Valid until the queue changes.
  struct Found {
    const Class* from = nullptr;
    const QueueEntry* entry = nullptr;
  };

  /// O(log demands) in addition to the RankedQueue. Demands without waiting jobs are dropped, all
  /// at once when they may be the majority, unless they claim a quota.
  void insert(DemandId id, const cluster::Demand& demand, const QueueEntry& entry);
  void erase(DemandId id, const QueueKey& key);
  /// Puts a demand of classes() aside, or back. While it is aside, none of its jobs counts as
  /// waiting.
  void set_aside(DemandId id, bool aside);
  bool is_aside(DemandId id) const;
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Returns the class with the first job of all; requires one. O(1).
  const Class& first() const { return classes_[first_]; }
  /// Returns the demands in order of arrival; some may be empty.
  const std::vector<Class>& classes() const { return classes_; }
  /// Returns the first of the entries, or nulls, that `ask(class)` returns, over all demands for
  /// which `skips(demand)` is false. If `skips` holds for a demand, it must hold for every demand
  /// that covers it.
  template <typename Skips, typename Ask>
  Found first_of(Skips&& skips, Ask&& ask) const;
  /// Calls `look` with the classes that have a waiting job, fewest GPUs first and then in order of
  /// classes(), except for subtrees for which `skips(part)` is true.
  template <typename Skips, typename Look>
  void visit(Skips&& skips, Look&& look) const;
  /// Whether each demand is looked at, so that queries about several demands at once do not pay.
  bool has_few_demands() const { return !has_trees(); }
  /// Returns the demand of a class with as little apart from GPUs as any waiting job with the same
  /// number of GPUs requests. Requires !has_few_demands().
  cluster::Demand least_like(const Class& own) const;
  /// Computes the shortest estimated run time of a class. Until then, jobs that have left still
  /// count.
  void tighten(const Class& own) const {
    own.believed = own.jobs.least_believed();
    if (has_trees()) trees_[own.tree].tighten(own.leaf, own.believed);
  }
  /// Returns the entry after `key` over all classes; null if none. O(demands with jobs before
  /// that).
  const QueueEntry* next(const QueueKey& key) const;
  /// Goes through all jobs in order; may leave out the rest of a demand. Any change of the queue
  /// invalidates it. O(demands) to begin, O(log demands) per step.
  class Walk {
   public:
    explicit Walk(const WaitingQueue& queue);
    bool at_end() const { return lines_.empty(); }
    JobId job() const { return lines_.front().at.get()->job; }
    const QueueKey& key() const { return lines_.front().at.get()->key; }
    const cluster::Demand& demand() const { return lines_.front().from->demand; }
    void advance();
    /// Skips all jobs of this demand.
    void leave_out();

   private:
    struct Line {
      const Class* from;
      RankedQueue::Cursor at;
    };
    static bool is_later(const Line& a, const Line& b) { return b.at.get()->key < a.at.get()->key; }

    std::vector<Line> lines_;  // a heap with the first job in front
  };

 private:
  /// Number of demands that are kept, with or without a waiting job.
  static constexpr std::size_t kKept = 1024;
  /// Number of demands up to which each is looked at; about where both ways cost the same.
  static constexpr std::size_t kFew = 16;

  bool has_trees() const { return !trees_.empty(); }
  void add_class(DemandId id, const cluster::Demand& demand);
  /// Files a class of classes_; creates trees once there are too many.
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
  std::vector<ClassTree> trees_;         // by GPUs, if there are more
  std::vector<std::uint32_t> position_;  // of each DemandId in classes_, or kAbsent
  std::uint32_t first_ = 0;              // position of first(), while any job waits
  std::size_t size_ = 0;
  std::size_t most_classes_ = kKept;  // limit at which empty ones are dropped
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
  // If the first job of all may go, no other need be looked at.
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
