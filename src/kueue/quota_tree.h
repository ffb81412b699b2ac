// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tree of cohorts with queues as its leaves: quotas, what is used of them, and what is left.
///
/// Source   Kueue v0.19, pkg/cache/scheduler: resource_node.go, fair_sharing.go.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kueue/setup.h"

namespace almanac::kueue {

/// A pair of flavor and resource: flavor x number of resources + resource. Resources are in the
/// order of their names.
using Slot = std::uint32_t;
using FlavorAt = std::uint32_t;
using ResourceAt = std::uint32_t;
using NodeAt = std::uint32_t;   ///< Queues first, in the order of Setup::queues, then cohorts.
using QueueAt = std::uint32_t;  ///< Index into Setup::queues; a NodeAt too.
inline constexpr NodeAt kNoNode = std::numeric_limits<NodeAt>::max();

struct Want {
  Slot slot{};
  Amount amount = 0;
};
using Wants = std::vector<Want>;

/// Adds to the amount of a slot; a new slot goes last.
void add(Wants& wants, Slot slot, Amount amount);
Amount amount_of(const Wants& wants, Slot slot);

/// How much a node borrows for its weight. Comparable by key().
struct Share {
  double weight = 1;
  double ratio = 0;  ///< Dominant share of what it borrows, in thousandths of what can be lent.
  bool borrows = false;

  /// Less comes first. A node of weight 0 that borrows comes after all others.
  std::pair<int, double> key() const {
    if (weight == 0 && ratio > 0) return {1, ratio};
    return {0, ratio > 0 ? ratio / weight : 0};
  }
};

class QuotaTree {
 public:
  explicit QuotaTree(const Setup& setup);

  std::size_t num_resources() const { return resources_.size(); }
  const std::vector<std::string>& resources() const { return resources_; }
  /// num_resources() = no queue has a quota of it.
  ResourceAt resource(const std::string& name) const;
  Slot slot(FlavorAt flavor, ResourceAt resource) const {
    return flavor * static_cast<Slot>(resources_.size()) + resource;
  }

  std::size_t num_nodes() const { return nodes_.size(); }
  bool is_queue(NodeAt node) const { return node < num_queues_; }
  NodeAt parent(NodeAt node) const { return nodes_[node].parent; }
  NodeAt root(NodeAt node) const;
  std::span<const NodeAt> cohorts(NodeAt node) const { return nodes_[node].cohorts; }
  std::span<const NodeAt> queues(NodeAt node) const { return nodes_[node].queues; }
  /// All queues below a root; a queue without a cohort has itself.
  std::span<const QueueAt> queues_below(NodeAt root) const { return nodes_[root].queues_below; }
  /// Number of cohorts on the longest way down from a cohort, itself included.
  int height(NodeAt node) const { return nodes_[node].height; }

  /// Name of a cohort; "" for a queue, which Setup::queues names.
  std::string cohort_name(NodeAt node) const;
  Amount nominal(NodeAt node, Slot slot) const { return quota(node, slot).nominal; }
  /// Its nominal quota and what nodes below it lend.
  Amount subtree(NodeAt node, Slot slot) const { return quota(node, slot).subtree; }
  Amount borrowing_limit(NodeAt node, Slot slot) const { return quota(node, slot).borrowing_limit; }
  Amount used(NodeAt node, Slot slot) const { return quota(node, slot).used; }
  /// What a node has for itself alone and does not use.
  Amount own_left(NodeAt node, Slot slot) const;
  /// What it can use now, from its own quota and from that of others; below 0 if others use more
  /// than they may.
  Amount left(NodeAt node, Slot slot) const;
  /// The node whose limit decides left(): the root if its subtree's quota does, otherwise one whose
  /// borrowing limit does.
  NodeAt limiting(NodeAt node, Slot slot) const;
  /// What it could use if nothing ran.
  Amount most(NodeAt node, Slot slot) const;
  /// Whether it borrows once `more` is used: a queue beyond its nominal quota, a cohort beyond that
  /// of its subtree.
  bool borrows(NodeAt node, Slot slot, Amount more = 0) const;
  /// Whether it uses no more than the quota of its subtree, in all of `slots`.
  bool is_within(NodeAt node, const std::vector<Slot>& slots) const;
  /// Whether its subtree's quota suffices for all of `wants` too; they become what its own quota
  /// leaves over.
  bool fits(NodeAt node, Wants& wants) const;
  Share share(NodeAt node) const;
  /// Whether any of the slots that the node borrows is in `wants`, with an amount.
  bool borrows_any_of(NodeAt node, const Wants& wants) const;

  void take(NodeAt node, Slot slot, Amount amount);
  void give_back(NodeAt node, Slot slot, Amount amount);
  void take(NodeAt node, const Wants& wants) {
    for (const Want& want : wants) take(node, want.slot, want.amount);
  }
  void give_back(NodeAt node, const Wants& wants) {
    for (const Want& want : wants) give_back(node, want.slot, want.amount);
  }

 private:
  static constexpr Amount kUnlimited = std::numeric_limits<Amount>::max();
  struct Quota {
    Amount nominal = 0;
    Amount subtree = 0;
    Amount own = 0;  ///< Not lent.
    Amount borrowing_limit = kUnlimited;
    Amount lending_limit = kUnlimited;
    Amount used = 0;
  };
  struct Node {
    NodeAt parent = kNoNode;
    std::vector<NodeAt> cohorts{}, queues{};
    std::vector<QueueAt> queues_below{};
    std::vector<Amount> lendable{};  ///< To it by its parent, by resource.
    double weight = 1;
    int height = 0;
  };

  const Quota& quota(NodeAt node, Slot slot) const { return quotas_[node * num_slots_ + slot]; }
  Quota& quota(NodeAt node, Slot slot) { return quotas_[node * num_slots_ + slot]; }
  /// What its borrowing limit leaves it of the nodes above.
  Amount may_take_from_above(NodeAt node, Slot slot) const;
  NodeAt cohort_at(const std::string& name, const std::map<std::string, const Cohort*>& declared,
                   const std::map<std::string, FlavorAt>& flavors);
  void declare(NodeAt node, const std::vector<ResourceGroup>& groups,
               const std::map<std::string, FlavorAt>& flavors);
  void sum_up(NodeAt node);
  void measure(NodeAt node);

  std::vector<std::string> resources_{};
  std::size_t num_queues_ = 0;
  std::size_t num_slots_ = 0;
  std::map<std::string, NodeAt> cohort_names_{};
  std::vector<Node> nodes_{};
  std::vector<Quota> quotas_{};  ///< By node, then slot.

 public:
  static constexpr Amount kNoLimit = kUnlimited;
};

}  // namespace almanac::kueue
