// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which instances fit next to each other on one GPU, where to create a new one, and which ones to
/// destroy for it.
///
/// Source   NVIDIA's tables: instances do not overlap in memory slices, a profile has a maximum
///          count, and at most one instance owns the media engines. No other rule applies: an
///          enumeration shows that compute slices, and counts on the known boards, never limit by
///          themselves.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/slices/board.h"

namespace almanac::slices {

/// The part of a GPU that is taken: enough to decide what can still be placed on one of boards().
struct Taken {
  SliceMask slices = 0;
  bool media = false;

  bool operator==(const Taken&) const = default;
};

/// Whether an instance fits at this start. O(1).
bool fits(const Profile& profile, int start, const Taken& taken);
/// Whether an instance fits at any start.
bool fits(const Profile& profile, const Taken& taken);

/// Returns the number of open starts, summed over profiles with `weights` (empty: 1 each). Media
/// profiles do not count, because they start where the plain ones do; the whole board counts.
double options(const Board& board, const Taken& taken, std::span<const double> weights = {});

/// Returns the start that keeps the most options, the highest of equal ones; negative if the
/// profile fits nowhere. On an empty board with seven slices, 1g goes to 6, 2g and 3g to 4, 4g to
/// 0. O(starts of all profiles); a table lookup for uniform weights.
int best_start(const Board& board, int profile, const Taken& taken,
               std::span<const double> weights = {});

/// Returns the expected number of memory slices that a job of the mix cannot use. A free slice is
/// unusable for a profile if no allowed position of that profile covers it; profiles are weighted
/// by how often jobs request them.
///
/// Source   Weng et al., ATC'23 (FGD), section 3, slices instead of thousandths of a GPU.
double unusable(const Board& board, const Taken& taken, std::span<const double> frequencies);

enum class Refusal : std::uint8_t {
  none,
  start_not_allowed,
  overlap,
  instance_limit,
  media_taken,
};
std::string_view to_string(Refusal refusal);

struct Instance {
  int profile = 0;  ///< Position in Board::profiles.
  int start = 0;    ///< Memory slice.

  friend auto operator<=>(const Instance&, const Instance&) = default;
};

/// The steps that create an instance.
struct Reconfiguration {
  std::vector<Instance> destroyed{};
  bool created = false;

  int operations() const { return static_cast<int>(destroyed.size()) + (created ? 1 : 0); }
};

/// The instances on one GPU, whether or not jobs use them.
class Layout {
 public:
  /// `board` must outlive it.
  explicit Layout(const Board& board) : board_(&board) {}

  const Board& board() const { return *board_; }
  const Taken& taken() const { return taken_; }
  const std::vector<Instance>& instances() const { return instances_; }
  bool has(const Instance& instance) const;

  /// Returns why the instance cannot exist, the first reason in the order of Refusal; `none` if it
  /// can.
  Refusal refusal(const Instance& instance) const;
  /// Creates the instance and returns `none`, or returns why it cannot exist.
  Refusal create(const Instance& instance);
  /// Destroys an instance, which must exist.
  void destroy(const Instance& instance);
  /// Returns the unused instances to destroy so that `wanted` can be created. No instance is moved,
  /// and instances that are not in the way stay.
  Reconfiguration change_for(const Instance& wanted) const;
  /// Applies change_for(wanted).
  Reconfiguration make(const Instance& wanted);

 private:
  const Board* board_;
  std::vector<Instance> instances_;
  Taken taken_;
};

}  // namespace almanac::slices
