// SPDX-License-Identifier: Apache-2.0

/// \file
/// A set of numbered nodes that finds the lowest-numbered member with enough free cores and memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace almanac::cluster {

/// Members form blocks of 64, each with an upper bound of the room of its members. An insert may
/// raise the bound; an erase leaves it. A search that finds no member in a block tightens the
/// bound. So a change costs two stores, and a search visits few blocks in vain.
///
/// Not thread-safe, not even for reading: a search writes bounds.
class RoomSet {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Room {
    std::int32_t cpu_milli = -1;
    std::int32_t memory_mb = -1;

    bool covers(const Room& other) const {
      return cpu_milli >= other.cpu_milli && memory_mb >= other.memory_mb;
    }
    void raise(const Room& other) {
      cpu_milli = std::max(cpu_milli, other.cpu_milli);
      memory_mb = std::max(memory_mb, other.memory_mb);
    }
  };

  /// Creates an empty set for members 0 .. count-1.
  explicit RoomSet(std::uint32_t count)
      : rooms_(count), words_((count + 63) / 64), bounds_((count + 63) / 64) {}

  /// Adds a member, or updates the room of one that is already in the set.
  void insert(std::uint32_t member, const Room& room) {
    rooms_[member] = room;
    words_[member / 64] |= std::uint64_t{1} << (member % 64);
    bounds_[member / 64].raise(room);
  }
  void erase(std::uint32_t member) { words_[member / 64] &= ~(std::uint64_t{1} << (member % 64)); }

  /// Returns the smallest member with at least `wanted` of both resources, or kNone.
  std::uint32_t first(const Room& wanted) const {
    for (std::uint32_t block = 0; block < bounds_.size(); ++block) {
      if (!bounds_[block].covers(wanted)) continue;
      const std::uint32_t found = first_of(block, wanted);
      if (found != kNone) return found;
    }
    return kNone;
  }
  /// Returns the member with the most cores among those with at least `wanted` of both resources,
  /// the smallest if several have as many; or kNone.
  std::uint32_t roomiest(const Room& wanted) const {
    std::uint32_t best = first(wanted);
    while (best != kNone) {
      const std::uint32_t better = first({rooms_[best].cpu_milli + 1, wanted.memory_mb});
      if (better == kNone) break;
      best = better;
    }
    return best;
  }

 private:
  std::uint32_t first_of(std::uint32_t block, const Room& wanted) const {
    Room bound;
    for (std::uint64_t rest = words_[block]; rest != 0; rest &= rest - 1) {
      const auto member = 64 * block + static_cast<std::uint32_t>(std::countr_zero(rest));
      if (rooms_[member].covers(wanted)) return member;
      bound.raise(rooms_[member]);
    }
    bounds_[block] = bound;
    return kNone;
  }

  std::vector<Room> rooms_;
  std::vector<std::uint64_t> words_;  // members in the set, one bit each
  mutable std::vector<Room> bounds_;
};

}  // namespace almanac::cluster
