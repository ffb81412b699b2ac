// SPDX-License-Identifier: Apache-2.0
#include "cluster/topology/layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::topology {
namespace {

/// Sockets of `size`, GPUs of one 1 apart, others 20.
Layout of_sockets(int sockets, int size) {
  const auto gpus = static_cast<std::size_t>(sockets * size);
  std::vector<std::vector<double>> distances(gpus, std::vector<double>(gpus, 20));
  for (std::size_t one = 0; one < gpus; ++one) {
    for (std::size_t other = 0; other < gpus; ++other) {
      if (one / static_cast<std::size_t>(size) == other / static_cast<std::size_t>(size)) {
        distances[one][other] = 1;
      }
    }
  }
  return Layout(distances);
}

TEST(LayoutTest, GivesGpusOfOneSocket) {
  const Layout machine = of_sockets(2, 2);
  EXPECT_EQ(machine.choose(0b1111, 2).gpus, 0b0011U);
  EXPECT_EQ(machine.choose(0b1110, 2).gpus, 0b1100U);
  EXPECT_DOUBLE_EQ(machine.choose(0b1110, 2).job, 1);
  // Any three are as far from each other as any other three.
  EXPECT_EQ(machine.choose(0b1111, 3).gpus, 0b0111U);
  EXPECT_DOUBLE_EQ(machine.choose(0b1111, 3).job, 1);
  EXPECT_DOUBLE_EQ(machine.choose(0b1111, 4).job, 1);
}

TEST(LayoutTest, SaysHowFarApartTheOnlyOnesAre) {
  // Cost 1 of communication, 0.01 of neighbors: 2 sqrt(0.01) / (1 + sqrt(0.01)).
  const Layout::Choice across = of_sockets(2, 2).choose(0b0101, 2);
  EXPECT_EQ(across.gpus, 0b0101U);
  EXPECT_DOUBLE_EQ(across.distance, 20);
  EXPECT_DOUBLE_EQ(across.job, 0.2 / 1.1);
}

TEST(LayoutTest, LeavesSocketsWhole) {
  const Layout machine = of_sockets(2, 4);
  // One next to the one that is taken, not from the socket that is free.
  EXPECT_EQ(machine.choose(0b1111'1110, 1).gpus, 0b0000'0010U);
  EXPECT_EQ(machine.choose(0b1110'1111, 1).gpus, 0b0010'0000U);
  // Two of the socket that is broken already.
  EXPECT_EQ(machine.choose(0b1111'0011, 2).gpus, 0b0000'0011U);
}

TEST(LayoutTest, GoesByLinksWithinASocket) {
  // A socket of four in pairs: 0 with 3, 1 with 2.
  const Layout machine({{0, 10, 10, 1}, {10, 0, 1, 10}, {10, 1, 0, 10}, {1, 10, 10, 0}});
  EXPECT_EQ(machine.choose(0b1111, 2).gpus, 0b1001U);
  EXPECT_EQ(machine.choose(0b1110, 2).gpus, 0b0110U);
  // One alone takes the one whose pair is broken.
  EXPECT_EQ(machine.choose(0b1110, 1).gpus, 0b1000U);
}

TEST(LayoutTest, GpusAllAsNearAreTakenInOrderOfNumber) {
  const Layout machine = of_sockets(1, 8);
  EXPECT_EQ(machine.choose(0b1111'0110, 3).gpus, 0b0001'0110U);
  EXPECT_EQ(Layout(std::vector<std::vector<double>>{{0}}).choose(1, 1).gpus, 1U);
}

TEST(LayoutTest, OfManyGpusTakesThoseThatGrowFromTheNearest) {
  const Layout machine = of_sockets(4, 8);
  const Layout::Choice eight = machine.choose(0xFFFF'FFFE, 8);
  EXPECT_EQ(eight.gpus, 0xFF00U);
  EXPECT_DOUBLE_EQ(eight.job, 1);
}

using Distances = std::vector<std::vector<double>>;

double apart(const Distances& distances, Gpus set) {
  double sum = 0;
  for (std::size_t one = 0; one < distances.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if ((set >> one & set >> other & 1) != 0) sum += distances[one][other];
    }
  }
  return sum;
}

/// GPUs that can be reached from `gpu` by steps of `level` at most.
Gpus island_of(const Distances& distances, std::size_t gpu, double level) {
  Gpus reached = Gpus{1} << gpu;
  for (std::size_t round = 0; round < distances.size(); ++round) {
    for (std::size_t one = 0; one < distances.size(); ++one) {
      for (std::size_t other = 0; other < distances.size(); ++other) {
        const bool steps = one != other && distances[one][other] <= level;
        if (steps && (reached >> one & 1) != 0) reached |= Gpus{1} << other;
      }
    }
  }
  return reached;
}

/// The utility to the system as the header says it, in the simplest way.
double slow_system(const Distances& distances, Gpus free, Gpus chosen) {
  const int count = std::popcount(chosen);
  double least = 1e9;
  double farthest = 0;
  std::set<double> levels;
  for (Gpus set = 0; set < Gpus{1} << distances.size(); ++set) {
    if (std::popcount(set) == count) least = std::min(least, apart(distances, set));
    if (std::popcount(set) != 2) continue;
    levels.insert(apart(distances, set));
    farthest = std::max(farthest, apart(distances, set));
  }
  const double most = farthest * count * (count - 1) / 2;
  double far = most > least ? (apart(distances, chosen) - least) / (most - least) : 0;
  double broken = 0;
  for (const double level : levels) {
    for (std::size_t gpu = 0; gpu < distances.size(); ++gpu) {
      const Gpus left = free & ~chosen;
      const Gpus island = island_of(distances, gpu, level);
      if ((left >> gpu & 1) != 0 && (left & island) != island) broken += 1;
    }
  }
  broken /= static_cast<double>(levels.size() * distances.size());
  const auto root = [](double cost) { return std::cbrt(std::max(cost, 0.01)); };
  return 3 * root(0.01) / (root(far) + root(0.01) + root(broken));
}

RC_GTEST_PROP(LayoutProperty, NoSetOfAsManyIsOfMoreUse, ()) {
  const auto gpus = *rc::gen::inRange<std::size_t>(2, 7);
  Distances distances(gpus, std::vector<double>(gpus));
  for (std::size_t one = 0; one < gpus; ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      distances[one][other] = distances[other][one] = *rc::gen::element(1., 5., 20.);
    }
  }
  const Gpus free = *rc::gen::inRange<Gpus>(1, Gpus{1} << gpus);
  const int count = *rc::gen::inRange(1, std::popcount(free) + 1);
  const Layout::Choice chosen = Layout(distances).choose(free, count);
  RC_ASSERT(std::popcount(chosen.gpus) == count);
  RC_ASSERT((chosen.gpus & ~free) == 0);
  RC_ASSERT(chosen.job > 0 && chosen.job <= 1);
  RC_ASSERT(std::abs(chosen.system - slow_system(distances, free, chosen.gpus)) < 1e-12);
  for (Gpus set = 0; set < Gpus{1} << gpus; ++set) {
    if ((set & ~free) != 0 || std::popcount(set) != count) continue;
    RC_ASSERT(slow_system(distances, free, set) < chosen.system + 1e-12);
  }
}

}  // namespace
}  // namespace almanac::topology
