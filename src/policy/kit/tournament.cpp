// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/tournament.h"

#include <limits>

namespace almanac::policy {
namespace {

double length(const Contender& job) {
  return job.speed > 0 ? job.work / job.speed : std::numeric_limits<double>::infinity();
}

double beside(double gain, double speed) {
  return speed > 0 ? gain / speed : std::numeric_limits<double>::infinity();
}

/// Whether the challenger wins; in a tie it counts as the shorter.
bool beats(const Contender& challenger, const Contender& champion) {
  if (challenger.speed == 0 && champion.speed == 0) return challenger.work <= champion.work;
  const bool is_shorter = length(challenger) <= length(champion);
  const Contender& shorter = is_shorter ? challenger : champion;
  const Contender& longer = is_shorter ? champion : challenger;
  const bool longer_wins = beside(longer.next_speed - longer.speed, longer.next_speed) >
                           beside(shorter.next_speed - shorter.speed, shorter.speed);
  return is_shorter != longer_wins;
}

}  // namespace

std::size_t win_step(std::span<const Contender> contenders) {
  std::size_t champion = 0;
  for (std::size_t at = 1; at < contenders.size(); ++at) {
    if (beats(contenders[at], contenders[champion])) champion = at;
  }
  return champion;
}

}  // namespace almanac::policy
