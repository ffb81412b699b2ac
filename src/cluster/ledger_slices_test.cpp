// SPDX-License-Identifier: Apache-2.0

/// GPUs that are cut in instances, and the memory of parts.
#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/ledger.h"

namespace almanac::cluster {
namespace {

slices::ProfileId id(std::string_view name) { return *slices::profile_id(name); }

/// Two nodes of A100s that are cut, and one of GPUs held in thousandths.
Cluster cut() {
  Cluster made;
  made.add_vc("all");
  made.add_nodes({.gpus = 2,
                  .gpu_type = "A100",
                  .sharing = Sharing::mig,
                  .board = slices::find_board("A100-80GB"),
                  .gpu_memory_gb = 80},
                 2);
  made.add_nodes({.gpus = 2, .gpu_type = "V100", .gpu_memory_gb = 16}, 1);
  return made;
}

Demand instance(std::string_view profile, int milli) {
  return {.gpus = 1, .gpu_types = 0b1, .gpu_milli = milli, .profile = id(profile)};
}

TEST(LedgerSlices, AnInstanceLiesOnTheFullestBoardWhereItFitsAndKeepsMostOptions) {
  Ledger ledger(cut());
  const Demand two = instance("2g.20gb", 250);
  EXPECT_EQ(ledger.find_part(VcId{0}, two).gpus, 0U) << "no board is open";
  const auto first = ledger.part_of(NodeId{0}, 0, two);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->slice, 4);
  EXPECT_EQ(first->gpu_milli, 250) << "2 of 8 memory slices";
  ledger.take(*first);
  EXPECT_EQ(ledger.taken(NodeId{0}, 0).slices, 0b0011'0000U);
  EXPECT_EQ(ledger.find_part(VcId{0}, instance("3g.40gb", 500)).slice, 0);
  EXPECT_EQ(ledger.find_part(VcId{0}, instance("4g.40gb", 500)).slice, 0);
  ledger.take(ledger.find_part(VcId{0}, instance("4g.40gb", 500)));
  EXPECT_EQ(ledger.free_milli(NodeId{0}, 0), 250);
  EXPECT_EQ(ledger.find_part(VcId{0}, two).gpus, 0U) << "slices 6 and 7 are no place for it";
  EXPECT_EQ(ledger.find_part(VcId{0}, instance("1g.20gb", 250)).slice, 6);
  EXPECT_EQ(ledger.units(NodeId{0}, two), 1) << "on the other GPU";
}

TEST(LedgerSlices, AJobOfWholeGpusNeverLiesBesideInstances) {
  Ledger ledger(cut());
  const auto one = ledger.part_of(NodeId{0}, 0, instance("1g.10gb", 125));
  ledger.take(*one);
  EXPECT_EQ(ledger.free_on(NodeId{0}), 1);
  EXPECT_FALSE(ledger.can_take({.node = NodeId{0}, .gpus = 0b1}));
  ledger.take(Grant{.node = NodeId{0}, .gpus = 0b10});
  EXPECT_EQ(ledger.part_of(NodeId{0}, 1, instance("1g.10gb", 125)), std::nullopt);
  // Jobs that request whole GPUs and share one, as packings let them.
  ledger.give_back({.node = NodeId{0}, .gpu_milli = 500, .gpus = 0b10});
  EXPECT_EQ(ledger.open_milli(NodeId{0}), 875);
  EXPECT_EQ(ledger.part_of(NodeId{0}, 1, instance("1g.10gb", 125)), std::nullopt);
  ledger.give_back({.node = NodeId{0}, .gpu_milli = 500, .gpus = 0b10});
  EXPECT_TRUE(ledger.part_of(NodeId{0}, 1, instance("1g.10gb", 125)));
}

TEST(LedgerSlices, PartsFitByMemoryToo) {
  Ledger ledger(cut());
  const Demand ten{.gpus = 1, .gpu_types = 0b10, .gpu_milli = 300, .gpu_memory_mb = 10'000};
  ledger.take(*ledger.part_of(NodeId{2}, 0, ten));
  EXPECT_EQ(ledger.find_part(VcId{0}, ten).gpus, 0U) << "6 GB are left";
  EXPECT_EQ(ledger.find_part(NodeId{2}, ten).gpus, 0b10U);
  const Demand six{.gpus = 1, .gpu_types = 0b10, .gpu_milli = 300, .gpu_memory_mb = 6'000};
  const Grant found = ledger.find_part(VcId{0}, six);
  EXPECT_EQ(found.gpus, 0b1U);
  ledger.take(found);
  EXPECT_EQ(ledger.find_part(VcId{0}, {.gpus = 1, .gpu_types = 0b10, .gpu_milli = 300}).gpus, 0b1U)
      << "one that does not say its memory is not kept out by it";
}

TEST(LedgerSlicesDeathTest, StopsTheProgramRatherThanGiveASliceTwice) {
  Ledger ledger(cut());
  const auto at = [](int slice) {
    return Grant{.node = NodeId{0},
                 .gpu_milli = 250,
                 .gpus = 0b1,
                 .profile = id("2g.20gb"),
                 .slice = static_cast<std::int8_t>(slice)};
  };
  ledger.take(at(2));
  EXPECT_DEATH(ledger.take(at(2)), "node 0 mask 1 .250/1000");
  EXPECT_DEATH(ledger.take(at(1)), "node 0 mask 1") << "no start of a 2g";
  EXPECT_DEATH(ledger.give_back(at(4)), "has no 2g.20gb at slice 4");
  Grant elsewhere = at(2);
  elsewhere.node = NodeId{2};
  EXPECT_DEATH(ledger.take(elsewhere), "node 2 mask 1") << "that GPU is not cut";
  EXPECT_DEATH(
      ledger.take(Grant{.node = NodeId{2}, .gpu_milli = 100, .gpus = 0b1, .gpu_memory_mb = 16'001}),
      "node 2 mask 1");
}

/// The allocations alone; every answer is computed from scratch.
struct Held {
  std::vector<Grant> grants{};

  std::int32_t free_milli(NodeId node, int gpu) const {
    std::int32_t left = kWholeGpu;
    for (const Grant& each : on(node, gpu)) left -= each.gpu_milli;
    return left;
  }
  std::vector<Grant> on(NodeId node, int gpu) const {
    std::vector<Grant> found;
    std::copy_if(grants.begin(), grants.end(), std::back_inserter(found), [&](const Grant& each) {
      return each.node == node && (each.gpus >> gpu & 1) != 0;
    });
    return found;
  }
  /// Where on a GPU a job could lie; nothing = nowhere.
  std::optional<Grant> place(const NodeClass& make, NodeId node, int gpu,
                             const Demand& demand) const {
    Grant made{.node = node, .gpu_milli = demand.gpu_milli, .gpus = GpuMask{1} << gpu};
    const std::vector<Grant> beside = on(node, gpu);
    if (demand.profile == slices::kNoProfile) {
      std::int32_t memory = cluster::memory_mb(make.gpu_memory_gb);
      for (const Grant& each : beside) memory -= each.gpu_memory_mb;
      if (make.board != nullptr || free_milli(node, gpu) < demand.gpu_milli) return std::nullopt;
      if (memory < demand.gpu_memory_mb) return std::nullopt;
      made.gpu_memory_mb = demand.gpu_memory_mb;
      return made;
    }
    if (make.board == nullptr) return std::nullopt;
    slices::Layout layout(*make.board);
    for (const Grant& each : beside) {
      if (each.profile == slices::kNoProfile) return std::nullopt;
      RC_ASSERT(layout.create({slices::position(*make.board, each.profile), each.slice}) ==
                slices::Refusal::none);
    }
    const int profile = slices::position(*make.board, demand.profile);
    double most = -1;
    for (int start = 0; start < make.board->memory; ++start) {
      slices::Layout after = layout;
      if (after.create({profile, start}) != slices::Refusal::none) continue;
      const double kept = slices::options(*make.board, after.taken());
      if (kept < most) continue;
      most = kept;
      made.slice = static_cast<std::int8_t>(start);
    }
    if (most < 0) return std::nullopt;
    made.profile = demand.profile;
    return made;
  }
};

struct World {
  Cluster cluster = cut();
  Ledger ours{cluster};
  Held held{};

  const NodeClass& make(NodeId node) const {
    return cluster.classes[cluster.nodes[index(node)].node_class];
  }
  /// The GPU that is open, fits and has least left; of equal ones the lowest.
  std::optional<Grant> fullest(const Demand& demand) const {
    std::optional<Grant> best;
    std::int32_t least = kWholeGpu;
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
      const NodeId at{node};
      if ((ours.pool(at).gpu_type & demand.gpu_types) == 0) continue;
      for (int gpu = 0; gpu < make(at).gpus; ++gpu) {
        const std::int32_t left = held.free_milli(at, gpu);
        if (left >= least || left == 0) continue;
        const auto found = held.place(make(at), at, gpu, demand);
        if (!found) continue;
        least = left;
        best = found;
      }
    }
    return best;
  }
  void check(const std::vector<Demand>& demands) const {
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
      for (int gpu = 0; gpu < make(NodeId{node}).gpus; ++gpu) {
        RC_ASSERT(ours.free_milli(NodeId{node}, gpu) == held.free_milli(NodeId{node}, gpu));
        for (const Demand& demand : demands) {
          if ((ours.pool(NodeId{node}).gpu_type & demand.gpu_types) == 0) continue;
          RC_ASSERT(ours.part_of(NodeId{node}, gpu, demand) ==
                    held.place(make(NodeId{node}), NodeId{node}, gpu, demand));
        }
      }
    }
    for (const Demand& demand : demands) {
      const Grant found = ours.find_part(VcId{0}, demand);
      const std::optional<Grant> expected = fullest(demand);
      RC_ASSERT((found.gpus != 0) == expected.has_value());
      if (expected) RC_ASSERT(found == *expected);
    }
  }
};

RC_GTEST_PROP(LedgerSlices, AgreesWithARecountWhateverIsTakenGivenAndUndone, ()) {
  std::vector<Demand> demands;
  for (const auto& [name, milli] : std::vector<std::pair<const char*, int>>{{"1g.10gb", 125},
                                                                            {"1g.10gb+me", 125},
                                                                            {"1g.20gb", 250},
                                                                            {"2g.20gb", 250},
                                                                            {"3g.40gb", 500},
                                                                            {"4g.40gb", 500}}) {
    demands.push_back(instance(name, milli));
  }
  for (const int memory : {0, 5'000, 12'000}) {
    demands.push_back({.gpus = 1, .gpu_types = 0b10, .gpu_milli = 200, .gpu_memory_mb = memory});
  }
  World world;
  Held marked = world.held;
  std::size_t mark = world.ours.mark();
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 10), rc::gen::inRange(0, 1000)));
  for (const auto& [step, draw] : steps) {
    const auto number = static_cast<std::size_t>(draw);
    std::vector<Grant>& grants = world.held.grants;
    if (step <= 4) {
      const Demand& demand = demands[number % demands.size()];
      const NodeId node{static_cast<std::uint32_t>(number / 16 % 3)};
      if ((world.ours.pool(node).gpu_type & demand.gpu_types) == 0) continue;
      const Grant found = world.ours.find_part(node, demand);
      if (found.gpus == 0) continue;
      world.ours.take(found);
      grants.push_back(found);
    } else if (step == 5) {
      const NodeId node{static_cast<std::uint32_t>(number % 3)};
      if (world.ours.free_on(node) == 0) continue;
      grants.push_back(world.ours.take(node, Amount{.gpus = 1}));
    } else if (step <= 7 && !grants.empty()) {
      const auto gone = grants.begin() + static_cast<std::ptrdiff_t>(number % grants.size());
      world.ours.give_back(*gone);
      grants.erase(gone);
    } else if (step == 8) {
      marked = world.held;
      mark = world.ours.mark();
    } else if (step == 9) {
      world.ours.undo(mark);
      world.held = marked;
    }
    world.check(demands);
  }
}

}  // namespace
}  // namespace almanac::cluster
