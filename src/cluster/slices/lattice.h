// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which instances may stand beside which on one GPU, where a new one goes, and what has to go for
/// it.
///
/// Source   NVIDIA's tables: instances do not overlap in memory slices, a profile has a largest
///          count, and one instance at most owns the media engines; nothing else binds. That
///          compute slices and, on the known boards, counts never bind by themselves is checked by
///          enumeration.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/slices/board.h"

namespace almanac::slices {

/// What is taken of a GPU: enough to say what can still be placed on one of boards().
struct Taken {
  SliceMask slices = 0;
  bool media = false;

  bool operator==(const Taken&) const = default;
};

/// Whether an instance can stand there. O(1).
bool fits(const Profile& profile, int start, const Taken& taken);
/// Whether it can stand anywhere.
bool fits(const Profile& profile, const Taken& taken);

/// How many of the starts of all profiles are open, those of each profile `weights` times; none =
/// each once. Media profiles, which start where the plain ones do, do not count; the whole board
/// does.
double options(const Board& board, const Taken& taken, std::span<const double> weights = {});

/// The start that keeps most options; of equal ones the highest. Below 0 = it fits nowhere. On an
/// empty board of seven 1g goes to 6, 2g and 3g to 4, 4g to 0. O(starts of all profiles), a table
/// for weights that are all one.
int best_start(const Board& board, int profile, const Taken& taken,
               std::span<const double> weights = {});

/// Memory slices that a job of the mix is expected not to be able to use: each profile by how often
/// it is asked finds those free slices in vain that stand where it fits nowhere.
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

/// What has to be done so that an instance is there.
struct Reconfiguration {
  std::vector<Instance> destroyed{};
  bool created = false;

  int operations() const { return static_cast<int>(destroyed.size()) + (created ? 1 : 0); }
};

/// The instances on one GPU, in use or not.
class Layout {
 public:
  /// `board` must outlive it.
  explicit Layout(const Board& board) : board_(&board) {}

  const Board& board() const { return *board_; }
  const Taken& taken() const { return taken_; }
  const std::vector<Instance>& instances() const { return instances_; }
  bool has(const Instance& instance) const;

  /// Why the instance cannot be; the first reason in the order of Refusal.
  Refusal refusal(const Instance& instance) const;
  /// Refused, or none and it is there.
  Refusal create(const Instance& instance);
  /// Needs it to be there.
  void destroy(const Instance& instance);
  /// How many more instances of a profile could be created, were no other.
  int room(int profile) const;
  /// What has to go, of instances that no job holds, so that `wanted` can be created: no instance
  /// is moved. Instances that do not stand in its way stay.
  Reconfiguration change_for(const Instance& wanted) const;
  /// Carries it out.
  Reconfiguration make(const Instance& wanted);

 private:
  const Board* board_;
  std::vector<Instance> instances_;
  Taken taken_;
};

}  // namespace almanac::slices
