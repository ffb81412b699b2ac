// SPDX-License-Identifier: Apache-2.0

/// \file
/// The demands for one number of GPUs that a queue has, as a tree: of each part of them it is known
/// which job is first, which is briefest and what all of them ask at the least. So a search leaves
/// out at one look all demands that something smaller has shown not to fit, or of which no job is
/// brief enough or early enough.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ledger.h"
#include "policy/kit/desk/ranked_queue.h"

namespace almanac::policy {

/// Leaves are classes of jobs that ask the same, in order of being added.
///
/// Cost: O(log classes) a change, and less where a change does not reach the root.
class ClassTree {
 public:
  /// Of all classes of a part. Where no job waits, all is as it is here.
  struct Node {
    QueueKey front = kNobody;
    std::uint32_t first = 0;              ///< The number of the class that has it.
    Duration believed = Duration::max();  ///< The least, or less: see tighten().
    /// No more than any of them asks. Where they are spread unlike or claim different quotas it
    /// covers no demand.
    cluster::Demand least{};

    bool operator==(const Node&) const = default;
    bool empty() const { return front.sequence == kNobody.sequence; }
  };

  /// What visit() tells of a part.
  struct Part {
    const QueueKey& front;
    Duration believed;
    const cluster::Demand& least;
  };

  explicit ClassTree(std::int32_t gpus) : gpus_(gpus), nodes_(2) {}

  std::int32_t gpus() const { return gpus_; }
  const Node& root() const { return nodes_[kRoot]; }
  /// One more leaf, of a class for which no job waits; gives its number.
  std::uint32_t add();
  /// A job waits for a class for which none did.
  void enter(std::uint32_t leaf, const Node& own) { set(leaf, own); }
  void set_front(std::uint32_t leaf, const QueueKey& front);
  /// One more of a class is believed to run for so long.
  void lower(std::uint32_t leaf, Duration believed);
  /// The briefest of a class is believed to run for so long: those that left made it more.
  void tighten(std::uint32_t leaf, Duration believed) const;
  /// No job waits for a class any more.
  void leave(std::uint32_t leaf) { set(leaf, {}); }

  /// Calls `look` with the numbers of the classes for which a job waits, but for the parts of
  /// which `skips(part)`, in order of being added.
  template <typename Skips, typename Look>
  void visit(Skips&& skips, Look&& look) const {
    visit(kRoot, skips, look);
  }
  /// Looks for a best class, of all but `asked`: of each part that `skips(node)` does not leave out
  /// it calls `is_best(number)` with the class of the front first, and with the others if that says
  /// that they may be better.
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
  /// The children of node n are 2n and 2n + 1, the leaves are the second half. Mutable for what a
  /// search finds out about Node::believed.
  mutable std::vector<Node> nodes_;
};

}  // namespace almanac::policy
