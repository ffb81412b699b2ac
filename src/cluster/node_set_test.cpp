// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_set.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::cluster {
namespace {

/// Sizes around the borders of one, two and three levels.
rc::Gen<std::uint32_t> capacities() {
  return rc::gen::element<std::uint32_t>(1, 2, 63, 64, 65, 128, 1000, 4095, 4096, 4097, 10'000,
                                         262'144, 262'145);
}

void check_same(const NodeSet& ours, const std::set<std::uint32_t>& model) {
  RC_ASSERT(ours.size() == model.size());
  RC_ASSERT(ours.empty() == model.empty());
  std::uint32_t at = ours.first();
  for (const std::uint32_t member : model) {
    RC_ASSERT(at == member);
    RC_ASSERT(ours.contains(member));
    at = ours.next(at);
  }
  RC_ASSERT(at == NodeSet::kNone);
}

RC_GTEST_PROP(NodeSet, IsASortedSet, ()) {
  const std::uint32_t capacity = *capacities();
  NodeSet ours(capacity);
  std::set<std::uint32_t> model;
  const auto members =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, capacity));
  for (const std::uint32_t member : members) {
    // A member that comes again goes: the set grows and shrinks.
    RC_ASSERT(ours.contains(member) == model.contains(member));
    if (model.insert(member).second) {
      ours.insert(member);
    } else {
      model.erase(member);
      ours.erase(member);
    }
    check_same(ours, model);
  }
}

RC_GTEST_PROP(NodeSet, FindsTheNextOfAnyNumber, ()) {
  const std::uint32_t capacity = *capacities();
  const auto members =
      *rc::gen::container<std::set<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, capacity));
  NodeSet ours(capacity);
  for (const std::uint32_t member : members) ours.insert(member);
  const std::uint32_t from = *rc::gen::inRange<std::uint32_t>(0, capacity);
  const auto next = members.upper_bound(from);
  RC_ASSERT(ours.next(from) == (next == members.end() ? NodeSet::kNone : *next));
}

TEST(NodeSet, IsEmptyAtFirst) {
  const NodeSet set(100);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.first(), NodeSet::kNone);
}

}  // namespace
}  // namespace almanac::cluster
