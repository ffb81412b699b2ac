// SPDX-License-Identifier: Apache-2.0

/// \file
/// The demands of a queue for one number of GPUs, as a tree. For each subtree it knows the first
/// job, the shortest job and the minimum of all demands. So a search skips at once all demands that
/// cannot fit because a smaller one does not, or that have no job short enough or early enough.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ledger.h"
#include "policy/kit/desk/ranked_queue.h"

namespace almanac::policy {

/// Leaves are classes of jobs with equal demands, in order of insertion.
///
/// Cost     O(log classes) per change, less if a change does not reach the root
class ClassTree {
 public:
  /// Values over all classes of a subtree; the defaults stand for no waiting job.
  struct Node {
    QueueKey front = kNobody;
    std::uint32_t first = 0;              ///< Number of the class with that front.
    Duration believed = Duration::max();  ///< Lower bound of the shortest; see tighten().
    /// At most what each class requests. Covers no demand if the classes are spread differently or
    /// claim different quotas.
    cluster::Demand least{};

    bool operator==(const Node&) const = default;
    bool empty() const { return front.sequence == kNobody.sequence; }
  };

  /// What visit() reports about a subtree.
  struct Part {
    const QueueKey& front;
    Duration believed;
    const cluster::Demand& least;
  };

  explicit ClassTree(std::int32_t gpus) : gpus_(gpus), nodes_(2) {}

  std::int32_t gpus() const { return gpus_; }
  const Node& root() const { return nodes_[kRoot]; }
  /// Adds a leaf for a class without waiting jobs. Returns its number.
  std::uint32_t add();
  /// Records the first waiting job of a class.
  void enter(std::uint32_t leaf, const Node& own) { set(leaf, own); }
  void set_front(std::uint32_t leaf, const QueueKey& front);
  /// Records one more job of a class with this estimated run time.
  void lower(std::uint32_t leaf, Duration believed);
  /// Sets the shortest estimated run time of a class, after shorter jobs have left.
  void tighten(std::uint32_t leaf, Duration believed) const;
  /// Records that a class has no waiting job left.
  void leave(std::uint32_t leaf) { set(leaf, {}); }

  /// Calls `look` with the numbers of all classes with a waiting job in order of insertion, except
  /// for subtrees for which `skips(part)` is true.
  template <typename Skips, typename Look>
  void visit(Skips&& skips, Look&& look) const {
    visit(kRoot, skips, look);
  }
  /// Searches for a best class among all except `asked`. In each subtree that `skips(node)` does
  /// not skip, calls `is_best(number)` for the class of the front, and for the other classes if
  /// that returns false.
  template <typename Skips, typename IsBest>
  void find(std::uint32_t asked, Skips&& skips, IsBest&& is_best) const {
    find(kRoot, asked, skips, is_best);
  }

 private:
  static constexpr std::uint32_t kRoot = 1;
  static constexpr std::int32_t kUnlike = -1;

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(nodes_.size() / 2); }
  static Node joined(const Node& a, const Node& b);
  /// Puts a leaf in place.
  void set(std::uint32_t leaf, const Node& node);

  template <typename Skips, typename Look>
  void visit(std::uint32_t at, Skips&& skips, Look&& look) const {
    const Node& node = nodes_[at];
    if (node.empty() || skips(Part{node.front, node.believed, node.least})) return;
    if (at >= capacity()) return look(node.first);
    visit(2 * at, skips, look);
    visit(2 * at + 1, skips, look);
  }

  template <typename Skips, typename IsBest>
  void find(std::uint32_t at, std::uint32_t asked, Skips&& skips, IsBest&& is_best) const {
    const Node& node = nodes_[at];
    if (node.empty() || skips(node)) return;
    if (node.first != asked && is_best(node.first)) return;
    if (at >= capacity()) return;
    const std::uint32_t child = 2 * at + (nodes_[2 * at].first == node.first ? 0 : 1);
    find(child, node.first, skips, is_best);
    find(child ^ 1, node.first, skips, is_best);
  }

  std::int32_t gpus_;
  std::uint32_t leaves_ = 0;
  /// The children of node n are 2n and 2n + 1; the leaves are the second half. Mutable because a
  /// search may update Node::believed.
  mutable std::vector<Node> nodes_;
};

}  // namespace almanac::policy
