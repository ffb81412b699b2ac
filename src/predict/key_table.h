// SPDX-License-Identifier: Apache-2.0

/// \file
/// Values by key, in one array: a look-up touches one cache line, a chained table three.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace almanac::predict {

/// A `Value` says whether it is empty(), and is so at first. Linear probing, at most half full.
template <typename Value>
class KeyTable {
 public:
  /// Returns the value of `key`, empty at first; valid until the next call. Fill it at once.
  Value& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[position(key)];
    if (slot.value.empty()) {
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }
  /// Returns null if there is none.
  const Value* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[position(key)];
    return slot.value.empty() ? nullptr : &slot.value;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};  // empty for a free slot: a caller that gets one fills it at once
  };

  /// Returns the position of `key`, or where to put it.
  std::size_t position(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // Knuth's multiplicative hash
    std::size_t at = key * kGolden >> shift_;
    while (!slots_[at].value.empty() && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    constexpr std::size_t kFirst = 64;
    std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
    std::swap(old, slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (Slot& slot : old) {
      if (!slot.value.empty()) slots_[position(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  int shift_ = 0;
  std::size_t size_ = 0;
};

}  // namespace almanac::predict
