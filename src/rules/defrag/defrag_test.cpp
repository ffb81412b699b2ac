// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "rules/defrag/compaction.h"
#include "rules/defrag/plan.h"

namespace almanac::defrag {
namespace {

using cluster::Demand;
using cluster::GpuMask;
using cluster::Grant;
using cluster::kWholeGpu;

NodeId node(std::uint32_t number) { return NodeId{number}; }

/// Nodes alike in one virtual cluster, and jobs on them.
class Site {
 public:
  explicit Site(std::uint32_t nodes, cluster::NodeClass make = {.gpus = 4},
                std::uint32_t rack_nodes = 0)
      : cluster_(cluster_of(nodes, make, rack_nodes)), ledger(cluster_) {}

  /// A job with so many GPUs on each of `nodes`.
  void add(double cost_gpu_s, std::initializer_list<std::uint32_t> nodes, int gpus,
           int cpu_milli = 0) {
    Resident made{.job = JobId{static_cast<std::uint32_t>(residents.size())}};
    made.cost_gpu_s = cost_gpu_s;
    for (const std::uint32_t each : nodes) {
      made.held.push_back(ledger.take(node(each), {.gpus = gpus, .cpu_milli = cpu_milli}));
    }
    residents.push_back(std::move(made));
    ledger.commit();
  }
  /// A job with a part of one GPU.
  void add_part(double cost_gpu_s, std::uint32_t on, int gpu, int milli) {
    const Grant grant{.node = node(on), .gpu_milli = milli, .gpus = GpuMask{1} << gpu};
    ledger.take(grant);
    ledger.commit();
    residents.push_back({JobId{static_cast<std::uint32_t>(residents.size())}, {grant}, cost_gpu_s});
  }

  Answer make_room(const Demand& demand, const Limits& limits = {}) {
    return defrag::make_room(ledger, residents, VcId{0}, demand, limits);
  }

 private:
  static cluster::Cluster cluster_of(std::uint32_t nodes, const cluster::NodeClass& make,
                                     std::uint32_t rack_nodes) {
    cluster::Cluster made;
    made.add_vc("all");
    if (rack_nodes == 0) made.add_nodes(make, nodes);
    for (std::uint32_t at = 0; rack_nodes > 0 && at < nodes; at += rack_nodes) {
      made.add_nodes(make, rack_nodes, {}, "r" + std::to_string(at));
    }
    return made;
  }

  cluster::Cluster cluster_;

 public:
  cluster::Ledger ledger;
  std::vector<Resident> residents;
};

/// Nodes that hold something of these.
std::vector<std::uint32_t> nodes_of(std::span<const Grant> grants) {
  std::vector<std::uint32_t> made;
  for (const Grant& grant : grants) made.push_back(static_cast<std::uint32_t>(index(grant.node)));
  return made;
}

TEST(Compaction, MovesTheCheapestJobThatIsEnough) {
  // Three of four GPUs are taken on one node, two on each of the other two. A job that needs a
  // whole node waits until one of the pairs moves to the other; moving the second one costs least.
  Site site(3);
  site.add(10, {0}, 3);
  site.add(9, {1}, 2);
  site.add(8, {2}, 2);
  const Answer answer = site.make_room({.gpus = 4});
  ASSERT_TRUE(answer.best);
  EXPECT_TRUE(answer.is_proven);
  EXPECT_EQ(answer.best->cost_gpu_s, 8);
  ASSERT_EQ(answer.best->moves.size(), 1);
  EXPECT_EQ(answer.best->moves[0].resident, 2);
  EXPECT_THAT(nodes_of(answer.best->moves[0].to), testing::ElementsAre(1));
  EXPECT_THAT(nodes_of(answer.best->place), testing::ElementsAre(2));
  EXPECT_EQ(site.ledger.free_gpus(VcId{0}), 5) << "the ledger is as it was";
}

TEST(Compaction, KeepsNvlinkGroupsInTheirDomains) {
  // A job has two GPUs on each node of the first rack. A node of it comes free if one pair goes to
  // the second rack, which has two GPUs free: unless the four are a group.
  Site site(4, {.gpus = 4, .nvlink_domain = cluster::NvlinkDomain::rack}, 2);
  site.add(8, {0, 1}, 2);
  site.add(kStays, {2}, 2);
  site.add(kStays, {3}, 2);
  site.add(kStays, {3}, 1);
  ASSERT_TRUE(site.make_room({.gpus = 4}).best);
  site.residents[0].nvlink_gpus = 4;
  EXPECT_FALSE(site.make_room({.gpus = 4}).best);

  // With two free GPUs on each node of the second rack the group moves as a whole.
  Site roomy(4, {.gpus = 4, .nvlink_domain = cluster::NvlinkDomain::rack}, 2);
  roomy.add(8, {0, 1}, 2);
  roomy.add(kStays, {2}, 2);
  roomy.add(kStays, {3}, 2);
  roomy.residents[0].nvlink_gpus = 4;
  const Answer answer = roomy.make_room({.gpus = 4});
  ASSERT_TRUE(answer.best);
  ASSERT_EQ(answer.best->moves.size(), 1);
  EXPECT_THAT(nodes_of(answer.best->moves[0].to), testing::ElementsAre(2, 3));
}

TEST(Compaction, MovesOneJobToMakeRoomForAnotherThatMoves) {
  // One GPU is free on node 0, two on node 1, one on node 2. Node 0 comes free when its three GPUs
  // go to node 1, and they fit there when the one that may move leaves for node 2.
  Site site(3);
  site.add(5, {0}, 3);
  site.add(kStays, {1}, 1);
  site.add(1, {1}, 1);
  site.add(kStays, {2}, 3);
  const Answer answer = site.make_room({.gpus = 4});
  ASSERT_TRUE(answer.best);
  EXPECT_EQ(answer.best->cost_gpu_s, 6);
  ASSERT_EQ(answer.best->moves.size(), 2);
  EXPECT_THAT(nodes_of(answer.best->moves[0].to), testing::ElementsAre(1));
  EXPECT_THAT(nodes_of(answer.best->moves[1].to), testing::ElementsAre(2));
}

TEST(Compaction, NeedsNoMoveWhereThereIsRoom) {
  Site site(2);
  site.add(1, {0}, 1);
  const Answer answer = site.make_room({.gpus = 4});
  ASSERT_TRUE(answer.best);
  EXPECT_TRUE(answer.best->moves.empty());
  EXPECT_THAT(nodes_of(answer.best->place), testing::ElementsAre(1));
}

TEST(Compaction, SaysNoWhereTooLittleIsFree) {
  Site site(2);
  site.add(1, {0}, 3);
  site.add(1, {1}, 2);
  const Answer answer = site.make_room({.gpus = 4});
  EXPECT_FALSE(answer.best);
  EXPECT_TRUE(answer.is_proven);
}

TEST(Compaction, SaysNoAtOnceWhereTooFewCoresAreFree) {
  // Each job leaves half of the 8 cores of its node: a job of 8 cores starts where one moves to the
  // other, and none of 8.2 does.
  Site site(2, {.gpus = 4, .cpus = 8});
  site.add(1, {0}, 1, 4000);
  site.add(1, {1}, 1, 4000);
  EXPECT_TRUE(site.make_room({.gpus = 2, .cpu_milli = 4000}).best);
  const Answer answer = site.make_room({.gpus = 2, .cpu_milli = 4100}, {.looks = 1});
  EXPECT_FALSE(answer.best);
  EXPECT_TRUE(answer.is_proven);
}

TEST(Compaction, MovesAJobOfSeveralNodesAsOne) {
  // Two nodes are wanted. The job of two nodes, two GPUs each, moves once, whichever of its nodes
  // it leaves.
  Site site(5);
  site.add(6, {0, 1}, 2);
  site.add(kStays, {2}, 2);
  site.add(kStays, {3}, 2);
  site.add(kStays, {4}, 4);
  const Answer answer = site.make_room({.gpus = 8});
  ASSERT_TRUE(answer.best);
  EXPECT_EQ(answer.best->cost_gpu_s, 6);
  EXPECT_THAT(nodes_of(answer.best->place), testing::ElementsAre(0, 1));
  ASSERT_EQ(answer.best->moves.size(), 1);
  EXPECT_THAT(nodes_of(answer.best->moves[0].to), testing::ElementsAre(2, 3));
}

TEST(Compaction, JoinsPartsToFreeAGpu) {
  // A half and a third are on a GPU each. The third moves next to the half, within the node.
  Site site(1, {.gpus = 2});
  site.add_part(5, 0, 0, 500);
  site.add_part(4, 0, 1, 333);
  const Answer answer = site.make_room({.gpus = 1});
  ASSERT_TRUE(answer.best);
  EXPECT_EQ(answer.best->cost_gpu_s, 4);
  ASSERT_EQ(answer.best->moves.size(), 1);
  EXPECT_EQ(answer.best->moves[0].to[0].gpus, 0b01);
  EXPECT_EQ(answer.best->place[0].gpus, 0b10);
}

TEST(Compaction, KeepsToWhatItMayCost) {
  Site site(2);
  site.add(9, {0}, 2);
  site.add(8, {1}, 2);
  EXPECT_FALSE(site.make_room({.gpus = 4}, {.most_gpu_s = 7.9}).best);
  EXPECT_TRUE(site.make_room({.gpus = 4}, {.most_gpu_s = 8}).best);
}

TEST(Compaction, SaysWhereTheSearchWasCutOff) {
  Site site(3);
  site.add(1, {0}, 2);
  site.add(1, {1}, 2);
  site.add(1, {2}, 2);
  EXPECT_FALSE(site.make_room({.gpus = 4}, {.looks = 2}).is_proven);
}

TEST(Plan, TakesTheStepFirstThatMakesMostUsableForItsCost) {
  // Either pair could move for the job of three; for the job of four too, at the same cost, which
  // is more GPUs. No room is left for the job of three then.
  Site site(2);
  site.add(8, {0}, 2);
  site.add(8, {1}, 2);
  const std::vector<Newcomer> waiting = {{JobId{10}, VcId{0}, {.gpus = 3}},
                                         {JobId{11}, VcId{0}, {.gpus = 4}},
                                         {JobId{12}, VcId{0}, {.gpus = 2}}};
  const Plan plan = make_plan(site.ledger, site.residents, waiting);
  ASSERT_EQ(plan.steps.size(), 1);
  EXPECT_EQ(plan.steps[0].newcomer, 1);
  EXPECT_EQ(plan.steps[0].cost_of_a_gpu_s(), 2);
  EXPECT_THAT(plan.fit, testing::ElementsAre(2));
  EXPECT_EQ(site.ledger.free_gpus(VcId{0}), 4);
}

/// The slow way: every set of residents, and for each every way to place it and the newcomer.
class BruteForce {
 public:
  BruteForce(const Site& site, int nodes, int gpus, int cpu_milli) : site_(site) {
    nodes_.resize(static_cast<std::size_t>(nodes));
    for (Node& each : nodes_) {
      each.free.fill(0);
      std::fill_n(each.free.begin(), gpus, kWholeGpu);
      each.cpu_milli = cpu_milli;
    }
    for (const Resident& each : site.residents) {
      for (const Grant& grant : each.held) hold(grant, -1);
    }
  }

  /// kStays = no set will do.
  double cheapest(const Demand& demand, std::span<const int> units) {
    double best = kStays;
    for (std::size_t set = 0; set < std::size_t{1} << site_.residents.size(); ++set) {
      double cost = 0;
      std::vector<Piece> pieces;
      for (const int each : units)
        pieces.push_back({-1, each, demand.gpu_milli, demand.cpu_milli * each});
      for (std::size_t at = 0; at < site_.residents.size(); ++at) {
        if ((set >> at & 1) == 0) continue;
        const Resident& leaves = site_.residents[at];
        cost += leaves.cost_gpu_s;
        for (const Grant& grant : leaves.held) {
          pieces.push_back({static_cast<int>(at), grant.count(), grant.gpu_milli, grant.cpu_milli});
        }
      }
      if (cost >= best) continue;
      const auto before = nodes_;
      for (std::size_t at = 0; at < site_.residents.size(); ++at) {
        if ((set >> at & 1) == 0) continue;
        for (const Grant& grant : site_.residents[at].held) hold(grant, 1);
      }
      if (all_fit(pieces, 0)) best = cost;
      nodes_ = before;
    }
    return best;
  }

 private:
  struct Piece {
    int owner;
    int gpus;
    int milli;
    int cpu_milli;
  };
  struct Node {
    std::array<int, 4> free{};
    int cpu_milli = 0;
    std::vector<int> owners{};
  };

  void hold(const Grant& grant, int sign) {
    Node& on = nodes_[index(grant.node)];
    on.cpu_milli += sign * grant.cpu_milli;
    for (std::size_t gpu = 0; gpu < on.free.size(); ++gpu) {
      if ((grant.gpus >> gpu & 1) != 0) on.free[gpu] += sign * grant.gpu_milli;
    }
  }

  bool all_fit(const std::vector<Piece>& pieces, std::size_t from) {
    if (from == pieces.size()) return true;
    const Piece& piece = pieces[from];
    for (Node& on : nodes_) {
      if (on.cpu_milli < piece.cpu_milli ||
          std::count(on.owners.begin(), on.owners.end(), piece.owner) > 0)
        continue;
      const Node before = on;
      on.cpu_milli -= piece.cpu_milli;
      on.owners.push_back(piece.owner);
      const Node with_cores = on;
      // Whole GPUs are alike; a part may go to any.
      const int ways = piece.milli == kWholeGpu ? 1 : 4;
      for (int way = 0; way < ways; ++way) {
        on = with_cores;
        int left = piece.gpus;
        for (std::size_t gpu = 0; gpu < on.free.size() && left > 0; ++gpu) {
          if (ways > 1 && static_cast<int>(gpu) != way) continue;
          if (on.free[gpu] < piece.milli) continue;
          on.free[gpu] -= piece.milli;
          --left;
        }
        if (left == 0 && all_fit(pieces, from + 1)) return true;
      }
      on = before;
    }
    return false;
  }

  const Site& site_;
  std::vector<Node> nodes_;
};

TEST(Compaction, IsAsCheapAsTheCheapestOfAllSetsOfMoves) {
  constexpr int kGpus = 4;
  constexpr int kCpuMilli = 8000;
  int found = 0;
  int moved_several = 0;
  int impossible = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    const auto nodes = static_cast<std::uint32_t>(2 + rng.below(3));
    Site site(nodes, {.gpus = kGpus, .cpus = kCpuMilli / 1000.0});
    for (std::uint64_t tries = 3 + rng.below(7); tries > 0; --tries) {
      const auto on = static_cast<std::uint32_t>(rng.below(nodes));
      const auto beside = (on + 1) % nodes;
      const int gpus = static_cast<int>(1 + rng.below(3));
      const int cpu_milli = static_cast<int>(1000 * rng.below(5));
      const double cost = rng.below(6) == 0 ? kStays : static_cast<double>(1 + rng.below(9));
      if (rng.below(4) == 0) {
        const int gpu = static_cast<int>(rng.below(kGpus));
        const int milli = static_cast<int>(250 * (1 + rng.below(3)));
        if (site.ledger.free_milli(node(on), gpu) >= milli) site.add_part(cost, on, gpu, milli);
        continue;
      }
      const bool on_both = rng.below(5) == 0;
      const cluster::Amount asked{.gpus = gpus, .cpu_milli = cpu_milli};
      const bool fits = site.ledger.room(node(on)).covers(asked) &&
                        (!on_both || site.ledger.room(node(beside)).covers(asked));
      if (!fits) continue;
      on_both ? site.add(cost, {on, beside}, gpus, cpu_milli)
              : site.add(cost, {on}, gpus, cpu_milli);
    }
    Demand demand{.gpus = static_cast<int>(1 + rng.below(8)), .cpu_milli = 1000};
    if (demand.gpus == 1 && rng.below(2) == 0) demand.gpu_milli = 600;
    std::vector<int> units(static_cast<std::size_t>(demand.gpus / kGpus), kGpus);
    if (demand.gpus % kGpus > 0) units.push_back(demand.gpus % kGpus);
    if (units.size() > nodes) continue;
    const double slow =
        BruteForce(site, static_cast<int>(nodes), kGpus, kCpuMilli).cheapest(demand, units);
    const Answer answer = site.make_room(demand);
    ASSERT_TRUE(answer.is_proven) << "seed " << seed;
    ASSERT_EQ(answer.best ? answer.best->cost_gpu_s : kStays, slow) << "seed " << seed;
    if (!answer.best) {
      ++impossible;
      continue;
    }
    double sum = 0;
    for (const Move& move : answer.best->moves) sum += site.residents[move.resident].cost_gpu_s;
    EXPECT_EQ(sum, slow) << "seed " << seed;
    // Taking what is taken would abort.
    carry_out(*answer.best, site.ledger, site.residents);
    found += answer.best->moves.empty() ? 0 : 1;
    moved_several += answer.best->moves.size() > 1 ? 1 : 0;
  }
  // The cases are of all kinds.
  EXPECT_GT(found, 300);
  EXPECT_GT(moved_several, 50);
  EXPECT_GT(impossible, 300);
}

}  // namespace
}  // namespace almanac::defrag
