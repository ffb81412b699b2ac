// SPDX-License-Identifier: Apache-2.0
#include "cluster/ledger.h"

#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::cluster {
namespace {

Cluster two_kinds() {
  Cluster made;
  made.add_vc("red");
  made.add_nodes({.gpus = 4, .gpu_type = "V100"}, 2);
  made.add_nodes({.gpus = 8, .gpu_type = "A100"}, 1);
  made.add_vc("blue");
  made.add_nodes({.gpus = 4, .gpu_type = "V100"}, 3);
  return made;
}

TEST(Ledger, GroupsNodesThatAreAlikeWithinAVirtualCluster) {
  const Ledger ledger(two_kinds());
  ASSERT_EQ(ledger.pools(VcId{0}).size(), 2U);
  ASSERT_EQ(ledger.pools(VcId{1}).size(), 1U);
  EXPECT_EQ(ledger.pools(VcId{0})[0].free_gpus, 8);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 16);
  EXPECT_EQ(ledger.free_gpus(VcId{1}), 12);
  EXPECT_EQ(ledger.total_gpus(), 28);
}

TEST(Ledger, TakesTheLowestNumberedFreeGpus) {
  Ledger ledger(uniform(1, 8));
  EXPECT_EQ(ledger.take(NodeId{0}, Amount{.gpus = 2}).gpus, 0b11U);
  const Grant second = ledger.take(NodeId{0}, Amount{.gpus = 2});
  EXPECT_EQ(second.gpus, 0b1100U);
  ledger.give_back({.node = NodeId{0}, .gpus = 0b1});
  EXPECT_EQ(ledger.take(NodeId{0}, Amount{.gpus = 2}).gpus, 0b10001U);
}

TEST(Ledger, TakesGpusOfFewSockets) {
  Cluster machine;
  machine.add_vc("all");
  machine.add_nodes({.gpus = 8, .sockets = 2}, 1);
  Ledger ledger(machine);
  const auto take = [&](int gpus) { return ledger.take(NodeId{0}, Amount{.gpus = gpus}).gpus; };
  EXPECT_EQ(take(3), 0b0000'0111U);
  EXPECT_EQ(take(2), 0b0011'0000U) << "not one of each socket";
  EXPECT_EQ(take(1), 0b0000'1000U) << "the one that is left of the first";
  ledger.give_back({.node = NodeId{0}, .gpus = 0b111});
  EXPECT_EQ(take(5), 0b1100'0111U) << "all of the emptier socket, then of the other";
}

TEST(Ledger, HoldsNodesOf64Gpus) {
  Ledger ledger(uniform(2, 64));
  EXPECT_EQ(ledger.take(NodeId{1}, Amount{.gpus = 64}).gpus, ~GpuMask{0});
  EXPECT_EQ(ledger.free_on(NodeId{1}), 0);
  EXPECT_EQ(ledger.pools(VcId{0})[0].find(64, {}), NodeId{0});
}

Cluster with_cores() {
  Cluster made;
  made.add_vc("all");
  made.add_nodes({.gpus = 4, .cpus = 8, .memory_gb = 100}, 2);
  return made;
}

TEST(Ledger, FindsANodeWithRoomForCoresAndMemory) {
  Ledger ledger(with_cores());
  const Pool& pool = ledger.pools(VcId{0})[0];
  ledger.take(NodeId{0}, {.gpus = 1, .cpu_milli = 6000, .memory_mb = 10'000});
  ledger.take(NodeId{1}, {.gpus = 1, .cpu_milli = 1000, .memory_mb = 90'000});
  EXPECT_EQ(pool.find(3, {.cpu_milli = 2000, .memory_mb = 90'000}), NodeId{0});
  EXPECT_EQ(pool.find(3, {.cpu_milli = 2001}), NodeId{1});
  EXPECT_EQ(pool.find(3, {.cpu_milli = 3000, .memory_mb = 20'000}), kNoNode) << "no node has both";
  EXPECT_EQ(pool.find(4, {}), kNoNode);
  EXPECT_EQ(ledger.units(NodeId{0}, {.gpus = 8, .cpu_milli = 500}), 3) << "GPUs are the least";
  EXPECT_EQ(ledger.units(NodeId{0}, {.gpus = 8, .cpu_milli = 1500}), 1) << "cores are";
  EXPECT_EQ(ledger.units(NodeId{1}, {.tasks = 9, .cpu_milli = 1000}), 7);
}

TEST(Ledger, ResizesAndTakesThatBack) {
  Ledger ledger(with_cores());
  const Grant held = ledger.take(NodeId{0}, {.gpus = 1, .cpu_milli = 6000});
  ledger.commit();
  const std::size_t before = ledger.mark();
  ledger.give_back(Grant{.node = NodeId{0}, .cpu_milli = 4000});
  EXPECT_EQ(ledger.room(NodeId{0}), (Amount{3, 6000, 100'000}));
  EXPECT_EQ(ledger.busy_cpu_milli(), 2000);
  ledger.undo(before);
  EXPECT_EQ(ledger.room(NodeId{0}), (Amount{3, 2000, 100'000}));
  ledger.give_back(held);
  EXPECT_EQ(ledger.busy_nodes(), 0);
  EXPECT_EQ(ledger.total_cpu_milli(), 16'000);
}

TEST(Ledger, ANodeThatRunsACpuJobIsBusy) {
  Ledger ledger(with_cores());
  const Grant held = ledger.take(NodeId{1}, {.cpu_milli = 1});
  EXPECT_EQ(ledger.busy_nodes(), 1);
  EXPECT_EQ(ledger.busy_gpus(), 0);
  ledger.commit();
  ledger.set_nodes(VcId{0}, 0);
  EXPECT_EQ(ledger.total_cpu_milli(), 1) << "until the job on the drained node ends";
  ledger.give_back(held);
  EXPECT_EQ(ledger.total_cpu_milli(), 0);
  EXPECT_EQ(ledger.nodes(Power::on), 0);
}

TEST(LedgerDeathTest, StopsTheProgramRatherThanGiveACoreTwice) {
  Ledger ledger(with_cores());
  ledger.take(NodeId{0}, {.cpu_milli = 6000});
  EXPECT_DEATH(ledger.take(NodeId{0}, {.cpu_milli = 2001}), "2001 cores/1000");
  EXPECT_DEATH(ledger.give_back(Grant{.node = NodeId{0}, .cpu_milli = 6001}), "6001 cores/1000");
}

TEST(LedgerDeathTest, StopsTheProgramRatherThanGiveAGpuTwice) {
  Ledger ledger(uniform(1, 4));
  ledger.take(Grant{.node = NodeId{0}, .gpus = 0b0011});
  EXPECT_DEATH(ledger.take(Grant{.node = NodeId{0}, .gpus = 0b0110}), "node 0 mask 6");
  EXPECT_DEATH(ledger.take(NodeId{0}, Amount{.gpus = 3}), "node 0");
  EXPECT_DEATH(ledger.give_back({.node = NodeId{0}, .gpus = 0b0100}), "node 0 mask 4");
  EXPECT_DEATH(ledger.give_back({.node = NodeId{0}, .gpus = 0b10000}), "node 0 mask 10");
}

TEST(Ledger, OffersNothingOnANodeThatSleepsOrBoots) {
  Ledger ledger(uniform(3, 4));
  ledger.set_power(NodeId{0}, Power::asleep);
  ledger.set_power(NodeId{1}, Power::booting);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 4);
  EXPECT_EQ(ledger.pools(VcId{0})[0].find(4, {}), NodeId{2});
  EXPECT_FALSE(ledger.can_take({.node = NodeId{0}, .gpus = 0b1}));
  EXPECT_EQ(ledger.free_on(NodeId{1}), 0);
  EXPECT_EQ(ledger.total_gpus(), 12) << "they are in service all the same";
  EXPECT_EQ(ledger.nodes(Power::on), 1);
  EXPECT_EQ(ledger.nodes(Power::booting), 1);
  EXPECT_EQ(ledger.gpus(Power::asleep), 4);
  ledger.set_power(NodeId{1}, Power::on);
  EXPECT_EQ(ledger.pools(VcId{0})[0].find(4, {}), NodeId{1});
}

TEST(Ledger, TakesPowerBackLikeGpus) {
  Ledger ledger(uniform(2, 4));
  ledger.set_power(NodeId{1}, Power::asleep);
  ledger.commit();
  const std::size_t before = ledger.mark();
  ledger.set_power(NodeId{1}, Power::on);
  ledger.take(NodeId{1}, Amount{.gpus = 4});
  ledger.undo(before);
  EXPECT_EQ(ledger.power(NodeId{1}), Power::asleep);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 4);
  EXPECT_EQ(ledger.busy_nodes(), 0);
}

TEST(Ledger, TakesGpusOfANodeThatBootsAheadAndOffersTheOthersOnceItIsOn) {
  Ledger ledger(uniform(2, 4));
  ledger.set_power(NodeId{0}, Power::booting);
  const Grant ahead{.node = NodeId{0}, .gpus = 0b0011};
  ledger.take_ahead(ahead);
  EXPECT_EQ(ledger.busy_gpus(), 2);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 4) << "of node 1";
  ledger.commit();
  const std::size_t before = ledger.mark();
  ledger.set_power(NodeId{0}, Power::on);
  EXPECT_EQ(ledger.free_on(NodeId{0}), 2);
  ledger.undo(before);
  EXPECT_EQ(ledger.free_on(NodeId{0}), 0);
  ledger.set_power(NodeId{0}, Power::on);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 6);
  ledger.give_back(ahead);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 8);
}

TEST(LedgerDeathTest, TakesNothingAheadOfANodeThatSleeps) {
  Ledger ledger(uniform(1, 4));
  ledger.set_power(NodeId{0}, Power::asleep);
  EXPECT_DEATH(ledger.take_ahead({.node = NodeId{0}, .gpus = 0b1}), "node 0 mask 1");
}

TEST(Ledger, DrainsASleepingNodeWhichComesBackOn) {
  Ledger ledger(uniform(2, 4));
  ledger.set_power(NodeId{1}, Power::asleep);
  ledger.commit();
  ledger.set_nodes(VcId{0}, 1);
  EXPECT_TRUE(ledger.drained(NodeId{1}));
  EXPECT_EQ(ledger.nodes(Power::asleep), 0);
  EXPECT_EQ(ledger.nodes(Power::on), 1);
  EXPECT_EQ(ledger.total_gpus(), 4);
  ledger.set_nodes(VcId{0}, 2);
  EXPECT_EQ(ledger.power(NodeId{1}), Power::on);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 8);
}

TEST(LedgerDeathTest, DoesNotPutAJobToSleep) {
  Ledger ledger(uniform(1, 4));
  ledger.take(NodeId{0}, Amount{.gpus = 1});
  EXPECT_DEATH(ledger.set_power(NodeId{0}, Power::asleep), "node 0 runs a job");
}

TEST(Ledger, DrainsTheLeastBusyHighestNode) {
  Ledger ledger(uniform(3, 4));
  const Grant held = ledger.take(NodeId{2}, Amount{.gpus = 1});
  ledger.commit();
  ledger.set_nodes(VcId{0}, 2);
  EXPECT_TRUE(ledger.drained(NodeId{1})) << "of the idle nodes 0 and 1 the higher-numbered one";
  ledger.set_nodes(VcId{0}, 0);
  EXPECT_TRUE(ledger.drained(NodeId{2}));
  EXPECT_EQ(ledger.total_gpus(), 1) << "the GPU that is still in use";
  EXPECT_EQ(ledger.busy_gpus(), 1);
  EXPECT_FALSE(ledger.can_take({.node = NodeId{2}, .gpus = 0b10}));
  ledger.give_back(held);
  ledger.commit();
  EXPECT_EQ(ledger.total_gpus(), 0) << "a drained node leaves service as it empties";
  EXPECT_EQ(ledger.free_on(NodeId{2}), 0);
  ledger.set_nodes(VcId{0}, 1);
  EXPECT_FALSE(ledger.drained(NodeId{0})) << "the lowest-numbered one comes back";
  EXPECT_EQ(ledger.total_gpus(), 4);
}

TEST(Ledger, AppliesTheSizesOfTheBeginning) {
  Cluster made = uniform(3, 4);
  made.changes = {{.at = Time::min(), .vc = VcId{0}, .nodes = 1}, {.at = Time{5s}, .nodes = 2}};
  const Ledger ledger(made);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 4);
}

TEST(Ledger, APartGoesToTheFullestGpuThatIsOpen) {
  Ledger ledger(uniform(3, 2));
  ledger.take(Grant{.node = NodeId{1}, .gpu_milli = 700, .gpus = 0b01});
  ledger.take(Grant{.node = NodeId{2}, .gpu_milli = 400, .gpus = 0b11});
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 3);
  EXPECT_EQ(ledger.busy_gpus(), 3) << "GPUs that any job holds a part of";
  EXPECT_EQ(ledger.busy_gpu_milli(), 700 + 2 * 400);
  const auto find = [&](int milli) {
    return ledger.find_part(VcId{0}, {.gpus = 1, .gpu_milli = milli});
  };
  EXPECT_EQ(find(300), (Grant{.node = NodeId{1}, .gpu_milli = 300, .gpus = 0b01}));
  EXPECT_EQ(find(301), (Grant{.node = NodeId{2}, .gpu_milli = 301, .gpus = 0b01}));
  EXPECT_EQ(find(601).gpus, 0U) << "it must open a GPU";
  EXPECT_EQ(ledger.find_part(NodeId{1}, {.gpus = 1, .gpu_milli = 601}).gpus, 0b10U);
  EXPECT_EQ(ledger.units(NodeId{2}, {.gpus = 1, .gpu_milli = 600}), 1);
  EXPECT_EQ(ledger.units(NodeId{2}, {.gpus = 1, .gpu_milli = 601}), 0);
  EXPECT_EQ(ledger.free_gpus(VcId{0}, {.gpus = 1, .gpu_milli = 100}), 4);
  EXPECT_EQ(ledger.free_gpus(VcId{0}, {.gpus = 1}), 3);
}

TEST(Ledger, APartNeedsRoomForItsCores) {
  Ledger ledger(with_cores());
  ledger.take(Grant{.node = NodeId{0}, .gpu_milli = 700, .gpus = 0b1, .cpu_milli = 8000});
  ledger.take(Grant{.node = NodeId{1}, .gpu_milli = 100, .gpus = 0b1});
  const Demand wanted{.gpus = 1, .cpu_milli = 1000, .gpu_milli = 300};
  EXPECT_EQ(ledger.find_part(VcId{0}, wanted).node, NodeId{1}) << "node 0 has no core left";
}

TEST(Ledger, SplitsAGpuThatIsHeldAndMakesItWholeAgain) {
  Ledger ledger(uniform(1, 4));
  ledger.take(Grant{.node = NodeId{0}, .gpus = 0b11});
  ledger.commit();
  const Grant half{.node = NodeId{0}, .gpu_milli = 500, .gpus = 0b11};
  EXPECT_FALSE(ledger.can_take(half));
  ledger.give_back(half);
  EXPECT_EQ(ledger.open_milli(NodeId{0}), 500);
  EXPECT_FALSE(ledger.can_take({.node = NodeId{0}, .gpus = 0b01}));
  ledger.take(half);
  EXPECT_EQ(ledger.open_milli(NodeId{0}), 0);
  EXPECT_EQ(ledger.busy_gpu_milli(), 2000);
  ledger.give_back(half);
  ledger.give_back(half);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 4);
  EXPECT_EQ(ledger.busy_nodes(), 0);
  ledger.undo(0);
  EXPECT_EQ(ledger.free_gpus(VcId{0}), 2);
  EXPECT_EQ(ledger.busy_gpu_milli(), 2000);
  EXPECT_EQ(ledger.open_milli(NodeId{0}), 0);
}

TEST(Ledger, ADrainedNodeOffersNoParts) {
  Ledger ledger(uniform(1, 2));
  ledger.take(Grant{.node = NodeId{0}, .gpu_milli = 500, .gpus = 0b1});
  ledger.commit();
  ledger.set_nodes(VcId{0}, 0);
  EXPECT_EQ(ledger.find_part(VcId{0}, {.gpus = 1, .gpu_milli = 100}).gpus, 0U);
  EXPECT_EQ(ledger.total_gpus(), 1);
  ledger.set_nodes(VcId{0}, 1);
  EXPECT_EQ(ledger.find_part(VcId{0}, {.gpus = 1, .gpu_milli = 100}).gpus, 0b1U);
}

TEST(LedgerDeathTest, StopsTheProgramRatherThanGiveAPartTwice) {
  Ledger ledger(uniform(1, 4));
  const auto of_first = [](int milli) {
    return Grant{.node = NodeId{0}, .gpu_milli = milli, .gpus = 0b1};
  };
  ledger.take(of_first(600));
  EXPECT_DEATH(ledger.take(of_first(401)), "node 0 mask 1 .401/1000");
  EXPECT_DEATH(ledger.take(of_first(1000)), "node 0 mask 1");
  EXPECT_DEATH(ledger.give_back(of_first(601)), "node 0 mask 1 .601/1000");
  EXPECT_DEATH(ledger.give_back(of_first(1000)), "node 0 mask 1");
}

/// A ledger that recounts everything each time.
struct Model {
  std::map<std::size_t, std::vector<int>> left{};  ///< Of each GPU of a node, in thousandths.
  std::map<std::size_t, bool> drained{};

  GpuMask with(std::size_t node, int milli) const {
    GpuMask mask = 0;
    for (std::size_t gpu = 0; gpu < left.at(node).size(); ++gpu) {
      if (left.at(node)[gpu] >= milli) mask |= GpuMask{1} << gpu;
    }
    return mask;
  }
  void move(const Grant& grant, int sign) {
    for (std::size_t gpu = 0; gpu < left[index(grant.node)].size(); ++gpu) {
      if ((grant.gpus >> gpu & 1) != 0) left[index(grant.node)][gpu] += sign * grant.gpu_milli;
    }
  }
};

/// The GPU that a part must go to, by looking at all; no GPU = none is open.
Grant fullest_open(const Ledger& ours, const Model& model, VcId vc, int milli) {
  Grant best{.gpu_milli = milli};
  int least = kWholeGpu;
  for (const Pool& pool : ours.pools(vc)) {
    for (const NodeId node : pool.nodes) {
      if (model.drained.at(index(node))) continue;
      const std::vector<int>& left = model.left.at(index(node));
      for (std::size_t gpu = 0; gpu < left.size(); ++gpu) {
        if (left[gpu] < milli || left[gpu] >= least) continue;
        least = left[gpu];
        best.node = node;
        best.gpus = GpuMask{1} << gpu;
      }
    }
  }
  return best;
}

void check_same(const Cluster& cluster, const Ledger& ours, const Model& model) {
  int busy = 0;
  int total = 0;
  std::int64_t busy_milli = 0;
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    int free = 0;
    for (const Pool& pool : ours.pools(VcId{vc})) {
      int pool_free = 0;
      std::size_t open = 0;
      std::vector<std::uint32_t> count(pool.by_free.size(), 0);
      for (const NodeId node : pool.nodes) {
        int used = 0;
        int most_open = 0;
        for (const int each : model.left.at(index(node))) {
          used += each < kWholeGpu ? 1 : 0;
          busy_milli += kWholeGpu - each;
          if (model.drained.at(index(node)) || each == 0 || each == kWholeGpu) continue;
          ++open;
          most_open = std::max(most_open, each);
        }
        const int left = model.drained.at(index(node)) ? 0 : pool.gpus_per_node - used;
        RC_ASSERT(ours.free_on(node) == left);
        RC_ASSERT(ours.open_milli(node) == most_open);
        busy += used;
        total += used + left;
        pool_free += left;
        if (model.drained.at(index(node))) continue;
        if (++count[static_cast<std::size_t>(left)] == 1) RC_ASSERT(pool.find(left, {}) == node);
      }
      for (std::size_t n = 0; n < count.size(); ++n) {
        RC_ASSERT(pool.count(static_cast<int>(n)) == count[n]);
      }
      RC_ASSERT(pool.free_gpus == pool_free);
      RC_ASSERT(pool.open.size() == open);
      free += pool_free;
    }
    RC_ASSERT(ours.free_gpus(VcId{vc}) == free);
    for (const int milli : {1, 250, 500, 750, 999}) {
      const Grant found = ours.find_part(VcId{vc}, {.gpus = 1, .gpu_milli = milli});
      RC_ASSERT(found == fullest_open(ours, model, VcId{vc}, milli));
    }
  }
  RC_ASSERT(ours.busy_gpus() == busy);
  RC_ASSERT(ours.busy_gpu_milli() == busy_milli);
  RC_ASSERT(ours.total_gpus() == total);
}

RC_GTEST_PROP(Ledger, AgreesWithARecountWhateverIsTakenGivenAndUndone, ()) {
  const Cluster cluster = two_kinds();
  Ledger ours(cluster);
  Model model;
  for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
    const auto gpus = static_cast<std::size_t>(cluster.gpus(NodeId{node}));
    model.left[node] = std::vector<int>(gpus, kWholeGpu);
    model.drained[node] = false;
  }
  Model marked = model;
  std::size_t mark = ours.mark();
  const auto steps = *rc::gen::container<std::vector<std::pair<int, std::uint64_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::arbitrary<std::uint64_t>()));
  // Wholes in most cases, and parts that add up to them.
  const std::vector<int> parts =
      *rc::gen::elementOf(std::vector<std::vector<int>>{{1000}, {1000, 500, 250, 750}});
  for (const auto& [step, bits] : steps) {
    const NodeId node{static_cast<std::uint32_t>(bits % cluster.nodes.size())};
    const int milli = parts[bits >> 40 & (parts.size() - 1)];
    const GpuMask all = (GpuMask{1} << cluster.gpus(node)) - 1;
    if (step <= 1 && !model.drained[index(node)]) {
      const Grant wanted{
          .node = node, .gpu_milli = milli, .gpus = bits >> 8 & model.with(index(node), milli)};
      RC_ASSERT(ours.can_take(wanted));
      ours.take(wanted);
      model.move(wanted, -1);
    } else if (step == 2) {
      // What is taken of each is all that is not left of it.
      const Grant given{.node = node,
                        .gpu_milli = milli,
                        .gpus = bits >> 8 & all & ~model.with(index(node), kWholeGpu + 1 - milli)};
      ours.give_back(given);
      model.move(given, +1);
    } else if (step == 3) {
      mark = ours.mark();
      marked = model;
    } else if (step == 4) {
      ours.undo(mark);
      model = marked;
    } else if (step == 5) {
      ours.commit();
      const VcId vc = cluster.nodes[index(node)].vc;
      ours.set_nodes(vc, static_cast<int>(bits >> 8 & 3));
      for (std::size_t each = 0; each < cluster.nodes.size(); ++each) {
        model.drained[each] = ours.drained(NodeId{static_cast<std::uint32_t>(each)});
      }
      mark = ours.mark();
      marked = model;
    }
    check_same(cluster, ours, model);
  }
}

TEST(Ledger, TakesGpusThatAreConnectedWell) {
  Cluster cluster = uniform(1, 4);
  cluster.classes.front().connections = {{Between::nvlink, {0, 3}, 2}, {Between::nvlink, {1, 2}}};
  Ledger ledger(cluster);
  // That leaves the pair with two links whole.
  EXPECT_EQ(ledger.take(NodeId{0}, {.gpus = 1}).gpus, 0b0010U);
  EXPECT_EQ(ledger.take(NodeId{0}, {.gpus = 2}).gpus, 0b1001U);
  EXPECT_EQ(ledger.take(NodeId{0}, {.gpus = 1}).gpus, 0b0100U);
  EXPECT_EQ(ledger.take(NodeId{0}, {}).gpus, 0U);
}

}  // namespace
}  // namespace almanac::cluster
