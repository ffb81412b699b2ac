// SPDX-License-Identifier: Apache-2.0

/// \file
/// The boards that can be cut in instances (NVIDIA's Multi-Instance GPU), and how.
///
/// Source   NVIDIA's tables of profiles and placements; streaming multiprocessors and memory as
///          drivers list them. Compute slices of an H100 or H200 are not alike: 3g has 60 of 132
///          multiprocessors, 4g 64.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::slices {

/// Memory slices of one GPU, one bit each.
using SliceMask = std::uint32_t;

/// A size that an instance may have.
struct Profile {
  std::string name{};    ///< "2g.20gb".
  int most = 0;          ///< Instances of it on one GPU.
  int compute = 0;       ///< Compute slices.
  int memory = 0;        ///< Memory slices.
  SliceMask starts = 0;  ///< Bits of the memory slices at which it may begin.
  int sm = 0;            ///< Streaming multiprocessors.
  double memory_gib = 0;
  bool media = false;  ///< Whether it owns the media engines, which one instance at most does.

  SliceMask mask(int start) const { return ((SliceMask{1} << memory) - 1) << start; }
  bool may_start(int start) const {
    return start >= 0 && start < 32 && (starts >> start & 1U) != 0;
  }
};

struct Board {
  std::string name{};  ///< "A100-80GB".
  int memory = 0;      ///< Memory slices of the whole board.
  int compute = 0;     ///< Compute slices.
  int sm = 0;          ///< Streaming multiprocessors.
  double memory_gib = 0;
  std::vector<Profile> profiles{};

  /// The position of a profile; below 0 = it has none of that name.
  int find(std::string_view profile) const;
  const Profile& operator[](int profile) const {
    return profiles[static_cast<std::size_t>(profile)];
  }
  /// How fast a job is on an instance, of the whole board. A whole board is not cut: it has all
  /// multiprocessors, also those that no instance gets.
  double speed(int profile) const { return static_cast<double>((*this)[profile].sm) / sm; }
};

/// Those that are known here.
const std::vector<Board>& boards();
/// Null = none is called so.
const Board* find_board(std::string_view name);

/// The position of a board in boards(); below 0 = it is none of them.
int number(const Board& board);

/// A profile by name, whatever the board: names of all boards(), counted from 1 on.
using ProfileId = std::uint8_t;
inline constexpr ProfileId kNoProfile = 0;
/// Nothing = no board has one of that name.
std::optional<ProfileId> profile_id(std::string_view name);
std::string_view profile_name(ProfileId id);
/// The position of a profile on one of boards(); below 0 = that has none of that name. O(1).
int position(const Board& board, ProfileId id);

}  // namespace almanac::slices
