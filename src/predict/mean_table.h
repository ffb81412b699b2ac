// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decaying means by key.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace almanac::predict {

/// A mean in which each value has `decay` times the weight of the next one.
class DecayingMean {
 public:
  void add(double value, double decay) {
    sum_ = sum_ * decay + value;
    weight_ = weight_ * decay + 1;
  }
  bool empty() const { return weight_ == 0; }
  double value() const { return sum_ / weight_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

/// Means by key, in one array: a look-up touches one cache line, a chained table three. Linear
/// probing, at most half full.
class MeanTable {
 public:
  /// Returns the mean of `key`, empty at first; valid until the next call. Add to it at once.
  DecayingMean& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[position(key)];
    if (slot.mean.empty()) {
      slot.key = key;
      ++size_;
    }
    return slot.mean;
  }
  /// Returns null if there is none.
  const DecayingMean* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[position(key)];
    return slot.mean.empty() ? nullptr : &slot.mean;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    DecayingMean mean;  // empty for a free slot: a caller that gets one adds to it at once
  };

  /// Returns the position of `key`, or where to put it.
  std::size_t position(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // Knuth's multiplicative hash
    std::size_t at = key * kGolden >> shift_;
    while (!slots_[at].mean.empty() && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    constexpr std::size_t kFirst = 64;
    std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
    std::swap(old, slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& slot : old) {
      if (!slot.mean.empty()) slots_[position(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  int shift_ = 0;
  std::size_t size_ = 0;
};

}  // namespace almanac::predict
