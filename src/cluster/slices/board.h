// SPDX-License-Identifier: Apache-2.0

/// \file
/// The boards that can be split into instances (NVIDIA Multi-Instance GPU), and their profiles.
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

/// A size of instance.
struct Profile {
  std::string name{};    ///< "2g.20gb".
  int most = 0;          ///< Maximum instances on one GPU.
  int compute = 0;       ///< Compute slices.
  int memory = 0;        ///< Memory slices.
  SliceMask starts = 0;  ///< Bits of the memory slices at which it may start.
  int sm = 0;            ///< Streaming multiprocessors.
  double memory_gib = 0;
  bool media = false;  ///< Whether it owns the media engines; at most one instance may.

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

  /// Returns the position of a profile, or a negative number if the board has none of that name.
  int find(std::string_view profile) const;
  const Profile& operator[](int profile) const {
    return profiles[static_cast<std::size_t>(profile)];
  }
  /// Returns the speed of a job on an instance, relative to the whole board. A whole board is not
  /// partitioned, and so has all multiprocessors, including those that no instance gets.
  double speed(int profile) const { return static_cast<double>((*this)[profile].sm) / sm; }
};

/// Returns all known boards.
const std::vector<Board>& boards();
/// Returns the board called `name`, or null.
const Board* find_board(std::string_view name);

/// Returns the position of a board in boards(), or a negative number.
int number(const Board& board);

/// A profile by name, whatever the board: the names of all boards(), numbered from 1.
using ProfileId = std::uint8_t;
inline constexpr ProfileId kNoProfile = 0;
/// Returns nothing if no board has a profile of that name.
std::optional<ProfileId> profile_id(std::string_view name);
std::string_view profile_name(ProfileId id);
/// Returns the position of a profile on a board of boards(), or a negative number if it has none of
/// that name. O(1).
int position(const Board& board, ProfileId id);

}  // namespace almanac::slices
