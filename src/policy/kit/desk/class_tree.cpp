// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/class_tree.h"

#include <algorithm>

namespace almanac::policy {

ClassTree::Node ClassTree::joined(const Node& a, const Node& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Node made = a;
  if (b.front < a.front) {
    made.front = b.front;
    made.first = b.first;
  }
  made.believed = std::min(a.believed, b.believed);
  cluster::Demand& least = made.least;
  const cluster::Demand& other = b.least;
  least.tasks = std::min(least.tasks, other.tasks);
  least.gpu_types |= other.gpu_types;
  least.cpu_milli = std::min(least.cpu_milli, other.cpu_milli);
  least.memory_mb = std::min(least.memory_mb, other.memory_mb);
  least.gpu_milli = std::min(least.gpu_milli, other.gpu_milli);
  least.gpu_memory_mb = std::min(least.gpu_memory_mb, other.gpu_memory_mb);
  if (least.profile != other.profile) least.profile = slices::kNoProfile;
  if (least.nodes != other.nodes || least.claim != other.claim) least.nodes = kUnlike;
  return made;
}

void ClassTree::set(std::uint32_t leaf, const Node& node) {
  std::uint32_t at = capacity() + leaf;
  nodes_[at] = node;
  for (at /= 2; at >= kRoot; at /= 2) {
    const Node made = joined(nodes_[2 * at], nodes_[2 * at + 1]);
    if (made == nodes_[at]) return;
    nodes_[at] = made;
  }
}

std::uint32_t ClassTree::add() {
  const std::uint32_t had = capacity();
  if (leaves_ < had) return leaves_++;
  nodes_.resize(4 * std::size_t{had});
  std::copy_n(nodes_.begin() + had, had, nodes_.begin() + 2 * std::ptrdiff_t{had});
  std::fill_n(nodes_.begin() + 3 * std::ptrdiff_t{had}, had, Node{});
  for (std::uint32_t at = capacity() - 1; at >= kRoot; --at) {
    nodes_[at] = joined(nodes_[2 * at], nodes_[2 * at + 1]);
  }
  return leaves_++;
}

void ClassTree::set_front(std::uint32_t leaf, const QueueKey& front) {
  std::uint32_t at = capacity() + leaf;
  nodes_[at].front = front;
  for (at /= 2; at >= kRoot; at /= 2) {
    const Node& left = nodes_[2 * at];
    const Node& right = nodes_[2 * at + 1];
    const Node& before = right.front < left.front ? right : left;
    if (nodes_[at].front == before.front && nodes_[at].first == before.first) return;
    nodes_[at].front = before.front;
    nodes_[at].first = before.first;
  }
}

void ClassTree::lower(std::uint32_t leaf, Duration believed) {
  for (std::uint32_t at = capacity() + leaf; at >= kRoot && believed < nodes_[at].believed;
       at /= 2) {
    nodes_[at].believed = believed;
  }
}

void ClassTree::tighten(std::uint32_t leaf, Duration believed) const {
  std::uint32_t at = capacity() + leaf;
  nodes_[at].believed = believed;
  for (at /= 2; at >= kRoot; at /= 2) {
    nodes_[at].believed = std::min(nodes_[2 * at].believed, nodes_[2 * at + 1].believed);
  }
}

}  // namespace almanac::policy
