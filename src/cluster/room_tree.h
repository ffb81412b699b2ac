// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the lowest-numbered of many nodes that has enough cores and memory free.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace almanac::cluster {

/// A tree of maxima over numbered members, each with two amounts. Setting one costs a step a level;
/// finding one as many, unless cores are free on some and memory on others.
class RoomTree {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Room {
    std::int32_t cpu_milli = -1;
    std::int32_t memory_mb = -1;

    bool covers(const Room& other) const {
      return cpu_milli >= other.cpu_milli && memory_mb >= other.memory_mb;
    }
  };

  /// Members 0 .. count-1, none of them in.
  explicit RoomTree(std::uint32_t count)
      : leaves_(std::bit_ceil(std::max(count, std::uint32_t{1}))), rooms_(2 * leaves_) {}

  void insert(std::uint32_t member, const Room& room) { set(member, room); }
  void erase(std::uint32_t member) { set(member, {}); }

  /// The least member with `wanted` or more of both, or kNone.
  std::uint32_t first(const Room& wanted) const { return first(wanted, 1); }
  /// The least of those with the most cores, among members with that much memory; kNone = the tree
  /// has none with `wanted`.
  std::uint32_t roomiest(const Room& wanted) const {
    std::uint32_t best = first(wanted);
    while (best != kNone) {
      const std::int32_t cores = rooms_[leaves_ + best].cpu_milli;
      const std::uint32_t better = first({cores + 1, wanted.memory_mb});
      if (better == kNone) break;
      best = better;
    }
    return best;
  }

 private:
  void set(std::uint32_t member, const Room& room) {
    std::uint32_t at = leaves_ + member;
    rooms_[at] = room;
    while (at > 1) {
      at /= 2;
      const Room& a = rooms_[2 * at];
      const Room& b = rooms_[2 * at + 1];
      const Room top{std::max(a.cpu_milli, b.cpu_milli), std::max(a.memory_mb, b.memory_mb)};
      if (top.cpu_milli == rooms_[at].cpu_milli && top.memory_mb == rooms_[at].memory_mb) return;
      rooms_[at] = top;
    }
  }
  std::uint32_t first(const Room& wanted, std::uint32_t at) const {
    if (!rooms_[at].covers(wanted)) return kNone;
    if (at >= leaves_) return at - leaves_;
    const std::uint32_t found = first(wanted, 2 * at);
    return found != kNone ? found : first(wanted, 2 * at + 1);
  }

  std::uint32_t leaves_;
  std::vector<Room> rooms_;  // of leaf n at leaves_ + n; of an inner node the maxima below it
};

}  // namespace almanac::cluster
