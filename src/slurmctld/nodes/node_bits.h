// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sets of nodes as words of bits, for the set algebra of a scheduling cycle.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace almanac::slurmctld {

/// Position in the node table, which is the order of slurm.conf.
using NodeAt = std::uint32_t;

/// A set of positions in the node table. Both operands of a set operation have the same capacity.
class NodeBits {
 public:
  /// A range of words, up to `last`. Most sets of a partition are in few words of the table.
  struct Extent {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  NodeBits() = default;
  explicit NodeBits(std::size_t capacity, bool full = false)
      : words_((capacity + 63) / 64, full ? ~std::uint64_t{0} : 0) {
    if (full && capacity % 64 != 0) words_.back() = (std::uint64_t{1} << (capacity % 64)) - 1;
  }

  void insert(NodeAt node) { words_[node / 64] |= bit(node); }
  void erase(NodeAt node) { words_[node / 64] &= ~bit(node); }
  bool contains(NodeAt node) const { return (words_[node / 64] & bit(node)) != 0; }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  NodeBits& operator&=(const NodeBits& other) {
    for (std::size_t at = 0; at < words_.size(); ++at) words_[at] &= other.words_[at];
    return *this;
  }
  NodeBits& operator|=(const NodeBits& other) {
    for (std::size_t at = 0; at < words_.size(); ++at) words_[at] |= other.words_[at];
    return *this;
  }
  /// Removes the members of `other`.
  NodeBits& operator-=(const NodeBits& other) {
    for (std::size_t at = 0; at < words_.size(); ++at) words_[at] &= ~other.words_[at];
    return *this;
  }

  bool empty() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
  }
  std::size_t size() const {
    std::size_t members = 0;
    for (const std::uint64_t word : words_)
      members += static_cast<std::size_t>(std::popcount(word));
    return members;
  }
  /// Whether it has at least `count` members, all of them in `extent`.
  bool has_at_least(std::size_t count, const Extent& extent) const {
    std::size_t missing = count;
    for (std::size_t at = extent.first; at < extent.last && missing > 0; ++at) {
      if (words_[at] == 0) continue;
      const auto members =
          missing == 1 ? std::size_t{1} : static_cast<std::size_t>(std::popcount(words_[at]));
      missing -= std::min(missing, members);
    }
    return missing == 0;
  }
  /// Returns the words that have members.
  Extent extent() const {
    Extent extent{0, words_.size()};
    while (extent.first < extent.last && words_[extent.first] == 0) ++extent.first;
    while (extent.first < extent.last && words_[extent.last - 1] == 0) --extent.last;
    return extent;
  }
  /// Keeps the members of `other`, where `extent` covers all members of this set.
  void keep(const NodeBits& other, const Extent& extent) {
    for (std::size_t at = extent.first; at < extent.last; ++at) words_[at] &= other.words_[at];
  }
  /// Takes the members of `other` in `extent`, where this set has no other members.
  void take(const NodeBits& other, const Extent& extent) {
    if (words_.empty()) words_.resize(other.words_.size());
    for (std::size_t at = extent.first; at < extent.last; ++at) words_[at] = other.words_[at];
  }
  bool overlaps(const NodeBits& other) const {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if ((other.words_[at] & words_[at]) != 0) return true;
    }
    return false;
  }
  /// Words of the members in `extent`.
  std::span<std::uint64_t> words(const Extent& extent) {
    return {words_.data() + extent.first, extent.last - extent.first};
  }
  std::span<const std::uint64_t> words(const Extent& extent) const {
    return {words_.data() + extent.first, extent.last - extent.first};
  }
  /// Of the members in `extent`.
  std::size_t hash(const Extent& extent) const {
    std::uint64_t hash = 0;
    for (std::size_t at = extent.first; at < extent.last; ++at) {
      hash = (hash ^ words_[at]) * 0x9e37'79b9'7f4a'7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }
  /// Calls `act` with each member, in ascending order.
  template <typename Act>
  void each(Act&& act) const {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      for (std::uint64_t word = words_[at]; word != 0; word &= word - 1) {
        act(static_cast<NodeAt>(at * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }
  /// Calls `act` with each member that is in `other` too, in ascending order.
  template <typename Act>
  void each_common(const NodeBits& other, Act&& act) const {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      for (std::uint64_t word = words_[at] & other.words_[at]; word != 0; word &= word - 1) {
        act(static_cast<NodeAt>(at * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }
  bool operator==(const NodeBits&) const = default;

 private:
  static std::uint64_t bit(NodeAt node) { return std::uint64_t{1} << (node % 64); }

  std::vector<std::uint64_t> words_;
};

}  // namespace almanac::slurmctld
