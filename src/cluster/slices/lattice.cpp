// SPDX-License-Identifier: Apache-2.0
#include "cluster/slices/lattice.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"

namespace almanac::slices {
namespace {

Taken with(Taken taken, const Profile& profile, int start) {
  taken.slices |= profile.mask(start);
  taken.media = taken.media || profile.media;
  return taken;
}

int search_start(const Board& board, int profile, const Taken& taken,
                 std::span<const double> weights) {
  const Profile& asked = board[profile];
  int best = -1;
  double most = -1;
  for (SliceMask rest = asked.starts; rest != 0; rest &= rest - 1) {
    const int start = std::countr_zero(rest);
    if (!fits(asked, start, taken)) continue;
    const double kept = options(board, with(taken, asked, start), weights);
    if (kept < most) continue;
    most = kept;
    best = start;
  }
  return best;
}

/// The best start of each profile on the known boards, by the slices that are taken; below 0 if it
/// overlaps.
class BestStarts {
 public:
  BestStarts() {
    for (const Board& board : boards()) {
      std::vector<std::array<std::int8_t, 256>>& own = starts_.emplace_back();
      for (std::size_t profile = 0; profile < board.profiles.size(); ++profile) {
        std::array<std::int8_t, 256>& row = own.emplace_back();
        for (SliceMask slices = 0; slices < row.size(); ++slices) {
          row[slices] = static_cast<std::int8_t>(
              search_start(board, static_cast<int>(profile), {.slices = slices}, {}));
        }
      }
    }
  }
  int of(std::size_t board, int profile, SliceMask slices) const {
    return starts_[board][static_cast<std::size_t>(profile)][slices];
  }

 private:
  std::vector<std::vector<std::array<std::int8_t, 256>>> starts_;
};

}  // namespace

bool fits(const Profile& profile, int start, const Taken& taken) {
  return profile.may_start(start) && (taken.slices & profile.mask(start)) == 0 &&
         !(profile.media && taken.media);
}

bool fits(const Profile& profile, const Taken& taken) {
  for (SliceMask rest = profile.starts; rest != 0; rest &= rest - 1) {
    if (fits(profile, std::countr_zero(rest), taken)) return true;
  }
  return false;
}

double options(const Board& board, const Taken& taken, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t each = 0; each < board.profiles.size(); ++each) {
    const Profile& profile = board.profiles[each];
    if (profile.media && profile.memory < board.memory) continue;
    for (SliceMask rest = profile.starts; rest != 0; rest &= rest - 1) {
      if (!fits(profile, std::countr_zero(rest), {.slices = taken.slices})) continue;
      sum += weights.empty() ? 1 : weights[each];
    }
  }
  return sum;
}

int best_start(const Board& board, int profile, const Taken& taken,
               std::span<const double> weights) {
  const int known = number(board);
  if (!weights.empty() || known < 0) return search_start(board, profile, taken, weights);
  static const BestStarts table;
  if (board[profile].media && taken.media) return -1;
  return table.of(static_cast<std::size_t>(known), profile, taken.slices);
}

double unusable(const Board& board, const Taken& taken, std::span<const double> frequencies) {
  const int free = board.memory - std::popcount(taken.slices);
  double sum = 0;
  for (std::size_t each = 0; each < board.profiles.size(); ++each) {
    if (!fits(board.profiles[each], taken)) sum += frequencies[each] * free;
  }
  return sum;
}

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "";
    case Refusal::start_not_allowed:
      return "start_not_allowed";
    case Refusal::overlap:
      return "overlap";
    case Refusal::instance_limit:
      return "instance_limit";
    case Refusal::media_taken:
      break;
  }
  return "media_taken";
}

bool Layout::has(const Instance& instance) const {
  return std::find(instances_.begin(), instances_.end(), instance) != instances_.end();
}

Refusal Layout::refusal(const Instance& instance) const {
  const Profile& asked = (*board_)[instance.profile];
  if (!asked.may_start(instance.start)) return Refusal::start_not_allowed;
  if ((taken_.slices & asked.mask(instance.start)) != 0) return Refusal::overlap;
  const auto alike = std::count_if(instances_.begin(), instances_.end(), [&](const Instance& each) {
    return each.profile == instance.profile;
  });
  if (alike >= asked.most) return Refusal::instance_limit;
  return asked.media && taken_.media ? Refusal::media_taken : Refusal::none;
}

Refusal Layout::create(const Instance& instance) {
  const Refusal refused = refusal(instance);
  if (refused != Refusal::none) return refused;
  instances_.push_back(instance);
  taken_ = with(taken_, (*board_)[instance.profile], instance.start);
  return refused;
}

void Layout::destroy(const Instance& instance) {
  const auto found = std::find(instances_.begin(), instances_.end(), instance);
  ALMANAC_CHECK(found != instances_.end(), "no instance of profile {} at {}", instance.profile,
                instance.start);
  instances_.erase(found);
  taken_ = {};
  for (const Instance& each : instances_) {
    taken_ = with(taken_, (*board_)[each.profile], each.start);
  }
}

Reconfiguration Layout::change_for(const Instance& wanted) const {
  if (has(wanted)) return {};
  const Profile& asked = (*board_)[wanted.profile];
  Reconfiguration made{.created = true};
  for (const Instance& each : instances_) {
    const Profile& own = (*board_)[each.profile];
    const bool overlaps = (own.mask(each.start) & asked.mask(wanted.start)) != 0;
    if (overlaps || (own.media && asked.media)) made.destroyed.push_back(each);
  }
  return made;
}

Reconfiguration Layout::make(const Instance& wanted) {
  Reconfiguration made = change_for(wanted);
  for (const Instance& each : made.destroyed) destroy(each);
  if (made.created) {
    const Refusal refused = create(wanted);
    ALMANAC_CHECK(refused == Refusal::none, "instance of profile {} at {}: {}", wanted.profile,
                  wanted.start, to_string(refused));
  }
  return made;
}

}  // namespace almanac::slices
