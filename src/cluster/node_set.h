// SPDX-License-Identifier: Apache-2.0

/// \file
/// A set of small numbers with constant-time access to its smallest member.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace almanac::cluster {

/// A bitmap with summary bitmaps above it. Insert, erase, first and next cost one word per level;
/// 64 members need one level, 4,096 two, 262,144 three. The top level is inside the object, so a
/// set of up to 64 members touches no other memory.
class NodeSet {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Creates an empty set for members 0 .. capacity-1.
  explicit NodeSet(std::uint32_t capacity) {
    for (std::size_t bits = capacity; bits > 64;) {
      bits = (bits + 63) / 64;
      lower_.emplace_back(bits, 0);
    }
  }

  void insert(std::uint32_t member) {
    ++size_;
    for (auto& level : lower_) {
      std::uint64_t& word = level[member / 64];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (member % 64);
      if (!was_empty) return;
      member /= 64;
    }
    top_ |= std::uint64_t{1} << member;
  }
  void erase(std::uint32_t member) {
    --size_;
    for (auto& level : lower_) {
      std::uint64_t& word = level[member / 64];
      word &= ~(std::uint64_t{1} << (member % 64));
      if (word != 0) return;
      member /= 64;
    }
    top_ &= ~(std::uint64_t{1} << member);
  }
  bool contains(std::uint32_t member) const {
    const std::uint64_t word = lower_.empty() ? top_ : lower_[0][member / 64];
    return (word >> (member % 64) & 1) != 0;
  }
  std::uint32_t size() const { return size_; }
  bool empty() const { return top_ == 0; }

  /// Returns the smallest member, or kNone.
  std::uint32_t first() const {
    if (top_ == 0) return kNone;
    return descend(lower_.size(), lowest(top_));
  }
  /// Returns the smallest member above `member`, or kNone.
  std::uint32_t next(std::uint32_t member) const {
    for (std::size_t level = 0; level <= lower_.size(); ++level) {
      const std::uint64_t word = level < lower_.size() ? lower_[level][member / 64] : top_;
      const std::uint32_t bit = member % 64;
      const std::uint64_t above = bit == 63 ? 0 : word & (~std::uint64_t{0} << (bit + 1));
      if (above != 0) return descend(level, member - bit + lowest(above));
      member /= 64;
    }
    return kNone;
  }

 private:
  static std::uint32_t lowest(std::uint64_t word) {
    return static_cast<std::uint32_t>(std::countr_zero(word));
  }
  /// Returns the smallest member under bit `position` of level `level`.
  std::uint32_t descend(std::size_t level, std::uint32_t position) const {
    while (level-- > 0) position = position * 64 + lowest(lower_[level][position]);
    return position;
  }

  std::uint64_t top_ = 0;
  std::uint32_t size_ = 0;
  std::vector<std::vector<std::uint64_t>> lower_;  // the members themselves are level 0
};

}  // namespace almanac::cluster
