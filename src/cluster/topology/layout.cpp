// SPDX-License-Identifier: Apache-2.0
#include "cluster/topology/layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"

namespace almanac::topology {
namespace {

/// What a cost of nothing counts as.
constexpr double kLeastCost = 0.01;
constexpr double kMostSets = 1'000;

constexpr Gpus bit(int gpu) { return Gpus{1} << gpu; }

Gpus lowest(int count) { return count == 64 ? ~Gpus{0} : bit(count) - 1; }

/// How many sets of `count` of `of` there are.
double sets(int of, int count) {
  double made = 1;
  for (int at = 1; at <= count; ++at) made *= static_cast<double>(of - count + at) / at;
  return made;
}

double counted(double cost) { return std::max(cost, kLeastCost); }

}  // namespace

Layout::Layout(std::vector<std::vector<double>> distances) : distances_(std::move(distances)) {
  const auto gpus = static_cast<int>(distances_.size());
  ALMANAC_CHECK(gpus <= 64, "{} GPUs", gpus);
  std::set<double> levels;
  for (int one = 0; one < gpus; ++one) {
    for (int other = 0; other < one; ++other) {
      levels.insert(distances_[static_cast<std::size_t>(one)][static_cast<std::size_t>(other)]);
    }
  }
  for (const double level : levels) {
    std::vector<Gpus>& islands = islands_.emplace_back();
    for (Gpus rest = lowest(gpus); rest != 0;) {
      Gpus island = rest & -rest;
      for (Gpus reached = 0; reached != island;) {
        reached = island;
        for (Gpus members = reached; members != 0; members &= members - 1) {
          const std::vector<double>& from =
              distances_[static_cast<std::size_t>(std::countr_zero(members))];
          for (int other = 0; other < gpus; ++other) {
            if (from[static_cast<std::size_t>(other)] <= level) island |= bit(other) & rest;
          }
        }
      }
      islands.push_back(island);
      rest &= ~island;
    }
  }
  if (!levels.empty()) farthest_ = *levels.rbegin();
  least_.assign(static_cast<std::size_t>(gpus) + 1, 0);
  for (int count = 2; count <= gpus; ++count) {
    double least = std::numeric_limits<double>::infinity();
    each_set(lowest(gpus), count, [&](Gpus set) { least = std::min(least, distance(set)); });
    least_[static_cast<std::size_t>(count)] = least;
  }
}

double Layout::distance(Gpus chosen) const {
  double sum = 0;
  for (; chosen != 0; chosen &= chosen - 1) {
    const auto& from = distances_[static_cast<std::size_t>(std::countr_zero(chosen))];
    for (Gpus rest = chosen & (chosen - 1); rest != 0; rest &= rest - 1) {
      sum += from[static_cast<std::size_t>(std::countr_zero(rest))];
    }
  }
  return sum;
}

Layout::Choice Layout::judge(Gpus free, Gpus chosen) const {
  const int count = std::popcount(chosen);
  Choice made{.gpus = chosen, .distance = distance(chosen)};
  const double least = least_[static_cast<std::size_t>(count)];
  const double most = farthest_ * count * (count - 1) / 2;
  const double far = most > least ? (made.distance - least) / (most - least) : 0;
  double broken = 0;
  for (const std::vector<Gpus>& islands : islands_) {
    for (const Gpus island : islands) {
      const Gpus left = free & ~chosen & island;
      if (left != island) broken += std::popcount(left);
    }
  }
  if (!islands_.empty()) {
    broken /= static_cast<double>(islands_.size()) * static_cast<double>(distances_.size());
  }
  made.job = 2 * std::sqrt(kLeastCost) / (std::sqrt(counted(far)) + std::sqrt(kLeastCost));
  made.system = 3 * std::cbrt(kLeastCost) /
                (std::cbrt(counted(far)) + std::cbrt(kLeastCost) + std::cbrt(counted(broken)));
  return made;
}

Gpus Layout::grown_from(int gpu, Gpus free, int count) const {
  Gpus made = bit(gpu);
  while (std::popcount(made) < count) {
    int nearest = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Gpus rest = free & ~made; rest != 0; rest &= rest - 1) {
      const int other = std::countr_zero(rest);
      double added = 0;
      for (Gpus members = made; members != 0; members &= members - 1) {
        added += distances_[static_cast<std::size_t>(other)]
                           [static_cast<std::size_t>(std::countr_zero(members))];
      }
      if (added >= least) continue;
      least = added;
      nearest = other;
    }
    made |= bit(nearest);
  }
  return made;
}

template <typename See>
void Layout::each_set(Gpus free, int count, See&& see) const {
  const int size = std::popcount(free);
  if (sets(size, count) > kMostSets) {
    for (Gpus rest = free; rest != 0; rest &= rest - 1) {
      see(grown_from(std::countr_zero(rest), free, count));
    }
    return;
  }
  std::vector<Gpus> bits;
  for (Gpus rest = free; rest != 0; rest &= rest - 1) bits.push_back(rest & -rest);
  std::vector<int> at(static_cast<std::size_t>(count));
  for (int place = 0; place < count; ++place) at[static_cast<std::size_t>(place)] = place;
  while (true) {
    Gpus set = 0;
    for (const int place : at) set |= bits[static_cast<std::size_t>(place)];
    see(set);
    int last = count - 1;
    while (last >= 0 && at[static_cast<std::size_t>(last)] == size - count + last) --last;
    if (last < 0) return;
    ++at[static_cast<std::size_t>(last)];
    for (int place = last + 1; place < count; ++place) {
      at[static_cast<std::size_t>(place)] = at[static_cast<std::size_t>(place) - 1] + 1;
    }
  }
}

Layout::Choice Layout::choose(Gpus free, int count) const {
  ALMANAC_CHECK(count >= 1 && count <= std::popcount(free), "{} of {:x}", count, free);
  Choice best;
  each_set(free, count, [&](Gpus set) {
    const Choice judged = judge(free, set);
    if (judged.system > best.system) best = judged;
  });
  return best;
}

}  // namespace almanac::topology
