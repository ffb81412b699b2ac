// SPDX-License-Identifier: Apache-2.0

/// \file
/// A set of small numbers that knows its least member at once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace almanac::cluster {

/// A bitmap with summary bitmaps above it: insert, erase, first and next cost one word a level,
/// and 64 members need one level, 4,096 two, 262,144 three.
class NodeSet {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Holds members 0 .. capacity-1; empty at first.
  explicit NodeSet(std::uint32_t capacity) {
    std::size_t words = capacity;
    do {
      words = (words + 63) / 64;
      levels_.emplace_back(words, 0);
    } while (words > 1);
  }

  void insert(std::uint32_t member) {
    ++size_;
    for (auto& level : levels_) {
      std::uint64_t& word = level[member / 64];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (member % 64);
      if (!was_empty) return;
      member /= 64;
    }
  }
  void erase(std::uint32_t member) {
    --size_;
    for (auto& level : levels_) {
      std::uint64_t& word = level[member / 64];
      word &= ~(std::uint64_t{1} << (member % 64));
      if (word != 0) return;
      member /= 64;
    }
  }
  bool contains(std::uint32_t member) const {
    return (levels_[0][member / 64] >> (member % 64) & 1) != 0;
  }
  std::uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// The least member, or kNone.
  std::uint32_t first() const {
    if (size_ == 0) return kNone;
    return descend(levels_.size() - 1, 0);
  }
  /// The least member above `member`, or kNone.
  std::uint32_t next(std::uint32_t member) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::uint32_t word_index = member / 64;
      const std::uint32_t bit = member % 64;
      const std::uint64_t above =
          bit == 63 ? 0 : levels_[level][word_index] & (~std::uint64_t{0} << (bit + 1));
      if (above != 0) {
        const std::uint32_t found =
            word_index * 64 + static_cast<std::uint32_t>(std::countr_zero(above));
        return level == 0 ? found : descend(level - 1, found);
      }
      member = word_index;
    }
    return kNone;
  }

 private:
  /// The least member below position `word` of `level`, which is known to hold one.
  std::uint32_t descend(std::size_t level, std::uint32_t word) const {
    for (;; --level) {
      word = word * 64 + static_cast<std::uint32_t>(std::countr_zero(levels_[level][word]));
      if (level == 0) return word;
    }
  }

  std::vector<std::vector<std::uint64_t>> levels_;
  std::uint32_t size_ = 0;
};

}  // namespace almanac::cluster
