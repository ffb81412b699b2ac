// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/node_space.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::slurmctld {
namespace {

NodeBits bits(std::size_t capacity, std::initializer_list<NodeAt> members) {
  NodeBits made(capacity);
  for (const NodeAt each : members) made.insert(each);
  return made;
}

/// One zone with two nodes.
const Zones& one_zone() {
  static const Zones zones({NodeBits(2, true)}, 2);
  return zones;
}

TEST(NodeSpace, FindsALaterStartBehindPromisesOfAllNodes) {
  const NodeBits both(2, true);
  NodeSpace space(one_zone());
  space.reset(0, 1000, both);
  space.promise(0, both, 100, 200);
  NodeBits nodes = both;
  EXPECT_EQ(space.narrow(0, nodes, 50, 600), 200);
  EXPECT_TRUE(nodes.empty());
}

TEST(NodeSpace, KeepsPromisesFromLaterJobs) {
  NodeSpace space(one_zone());
  space.reset(0, 1000, NodeBits(2, true));
  const NodeBits first = bits(2, {0});
  space.promise(0, first, 100, 200);
  NodeBits free(2, true);
  EXPECT_EQ(space.narrow(0, free, 0, 150), 200);
  EXPECT_EQ(free, bits(2, {1}));
  EXPECT_TRUE(space.is_promised(0, first, 150, 160));
  EXPECT_FALSE(space.is_promised(0, first, 200, 300));
  EXPECT_EQ(space.first_promise(0, first, 50), 100);
  EXPECT_EQ(space.first_promise(0, first, 100), kNoSeconds);
}

TEST(NodeSpace, LooksLessFarIfAPromiseElsewhereBegins) {
  const NodeBits left = bits(2, {0});
  const NodeBits right = bits(2, {1});
  const Zones zones({left, right}, 2);
  NodeSpace space(zones);
  space.reset(0, 1000, NodeBits(2, true));
  space.promise(0, left, 300, 400);
  NodeBits nodes = left;
  // The period that begins next after the job's end is looked at: the promised one.
  EXPECT_EQ(space.narrow(0, nodes, 0, 100), 400);
  // Now it is one without promises.
  space.promise(1, right, 200, 250);
  EXPECT_EQ(space.narrow(0, nodes, 0, 100), 0);
  EXPECT_EQ(space.num_periods(), 5U);
}

/// Whether some of `nodes` are not in `all`.
bool lacks(const NodeBits& all, NodeBits nodes) {
  nodes -= all;
  return !nodes.empty();
}

/// slurmctld's list, as backfill.c keeps it.
class List {
 public:
  List(Seconds begin, Seconds end, const NodeBits& nodes) : records_{{begin, end, nodes}} {}

  Seconds narrow(NodeBits& nodes, Seconds start, Seconds end) const {
    const NodeBits before = nodes;
    Seconds later = 0;
    for (std::size_t at = 0; at < records_.size(); ++at) {
      const Record& record = records_[at];
      if (record.end > start && at + 1 < records_.size() && later == 0) {
        NodeBits both = before;
        both &= records_[at + 1].nodes;
        if (lacks(record.nodes, both)) later = record.end;
      }
      if (record.end <= start) continue;
      if (record.begin > end) break;
      nodes &= record.nodes;
    }
    return later;
  }
  bool is_promised(const NodeBits& nodes, Seconds start, Seconds end) const {
    return std::any_of(records_.begin(), records_.end(), [&](const Record& each) {
      return each.end > start && each.begin < end && lacks(each.nodes, nodes);
    });
  }
  void promise(const NodeBits& nodes, Seconds start, Seconds end) {
    cut(start);
    cut(end);
    for (Record& each : records_) {
      if (each.begin >= start && each.end <= end) each.nodes -= nodes;
    }
    for (std::size_t at = 0; at + 1 < records_.size(); ++at) {
      if (records_[at].nodes != records_[at + 1].nodes) continue;
      records_[at].end = records_[at + 1].end;
      records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      return;
    }
  }
  std::size_t size() const { return records_.size(); }

 private:
  struct Record {
    Seconds begin = 0;
    Seconds end = 0;
    NodeBits nodes{};
  };

  void cut(Seconds time) {
    for (std::size_t at = 0; at < records_.size(); ++at) {
      if (records_[at].end == time) return;
      if (records_[at].end < time) continue;
      Record second = records_[at];
      second.begin = records_[at].end = time;
      records_.insert(records_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
      return;
    }
  }

  std::vector<Record> records_;
};

// Nodes 0 to 2, 3 to 5, and 6 are zones. Promises are made as a cycle makes them, where the nodes
// are free, and otherwise.
RC_GTEST_PROP(NodeSpace, IsTheListOfSlurmctld, ()) {
  constexpr std::size_t kNodes = 7;
  const std::vector<NodeBits> partitions{bits(kNodes, {0, 1, 2}), bits(kNodes, {3, 4, 5}),
                                         bits(kNodes, {6})};
  const Zones zones(partitions, kNodes);
  const NodeBits all(kNodes, true);
  NodeSpace space(zones);
  // What an earlier cycle promised is forgotten.
  space.reset(0, 50, all);
  space.promise(*rc::gen::inRange<ZoneAt>(0, 2), partitions[0], 12, 20);
  space.reset(10, 40, all);
  List list(10, 40, all);
  const auto steps = *rc::gen::inRange(0, 30);
  for (int step = 0; step < steps; ++step) {
    const auto zone = *rc::gen::inRange<ZoneAt>(0, 3);
    NodeBits nodes = partitions[zone];
    for (NodeAt node = 0; node < kNodes; ++node) {
      if (*rc::gen::inRange(0, 3) == 0) nodes.erase(node);
    }
    const Seconds start = *rc::gen::inRange<Seconds>(10, 45);
    const Seconds end = start + *rc::gen::inRange<Seconds>(1, 20);
    NodeBits own = nodes;
    NodeBits others = nodes;
    const Seconds later = list.narrow(others, start, end);
    RC_ASSERT(space.narrow(zone, own, start, end) == later);
    RC_ASSERT(own == others);
    // If too few nodes are left, it does not matter which.
    const auto least = *rc::gen::inRange<std::size_t>(0, 4);
    NodeBits enough = nodes;
    RC_ASSERT(space.narrow(zone, enough, start, end, least) == later);
    const bool is_as_good = own.size() < least ? enough.size() < least : enough == own;
    RC_ASSERT(is_as_good);
    RC_ASSERT(space.is_promised(zone, nodes, start, end) == list.is_promised(nodes, start, end));
    const NodeBits& promised = *rc::gen::arbitrary<bool>() ? own : nodes;
    space.promise(zone, promised, start, end);
    list.promise(promised, start, end);
    RC_ASSERT(space.num_periods() == list.size());
  }
}

}  // namespace
}  // namespace almanac::slurmctld
