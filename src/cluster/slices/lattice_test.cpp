// SPDX-License-Identifier: Apache-2.0
#include "cluster/slices/lattice.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/slices/part.h"

namespace almanac::slices {
namespace {

const Board& a100() { return *find_board("A100-80GB"); }
int profile(const Board& board, std::string_view name) {
  const int found = board.find(name);
  EXPECT_GE(found, 0) << name;
  return found;
}

/// Every state that can be reached, each once.
void each_state(const Board& board, const std::function<void(const Layout&)>& visit) {
  std::set<std::vector<Instance>> seen;
  const std::function<void(const Layout&)> walk = [&](const Layout& at) {
    std::vector<Instance> state = at.instances();
    std::sort(state.begin(), state.end());
    if (!seen.insert(state).second) return;
    visit(at);
    for (int each = 0; each < static_cast<int>(board.profiles.size()); ++each) {
      for (int start = 0; start < board.memory; ++start) {
        Layout next = at;
        if (next.create({each, start}) == Refusal::none) walk(next);
      }
    }
  };
  walk(Layout(board));
}

TEST(Board, ProfilesAreFoundByNameOnEachBoardThatHasThem) {
  const auto id = profile_id("1g.10gb");
  ASSERT_TRUE(id);
  EXPECT_EQ(profile_name(*id), "1g.10gb");
  EXPECT_EQ(a100()[position(a100(), *id)].memory, 1);
  const Board& small = *find_board("A100-40GB");
  EXPECT_EQ(small[position(small, *id)].memory, 2) << "there it is the wide one";
  EXPECT_LT(position(*find_board("A30-24GB"), *id), 0);
  EXPECT_FALSE(profile_id("9g.90gb"));
  EXPECT_EQ(find_board("A100"), nullptr);
}

TEST(Board, SlicesOfAnH100AreNotAlike) {
  const Board& board = *find_board("H100-SXM-80GB");
  EXPECT_DOUBLE_EQ(board.speed(profile(board, "3g.40gb")), 60. / 132);
  EXPECT_DOUBLE_EQ(board.speed(profile(board, "4g.40gb")), 64. / 132);
  EXPECT_DOUBLE_EQ(board.speed(profile(board, "7g.80gb")), 1);
  EXPECT_DOUBLE_EQ(a100().speed(profile(a100(), "7g.80gb")), 98. / 108);
}

TEST(Lattice, OnAnEmptyBoardEachProfileGoesWhereItIsLeastInTheWay) {
  const auto start = [](const char* name) { return best_start(a100(), profile(a100(), name), {}); };
  EXPECT_EQ(start("1g.10gb"), 6);
  EXPECT_EQ(start("2g.20gb"), 4);
  EXPECT_EQ(start("3g.40gb"), 4);
  EXPECT_EQ(start("4g.40gb"), 0);
  EXPECT_EQ(start("7g.80gb"), 0);
}

TEST(Lattice, SingleSlicesFillABoardFromTheTopDown) {
  Layout layout(a100());
  const int one = profile(a100(), "1g.10gb");
  for (int expected = 6; expected >= 0; --expected) {
    const int start = best_start(a100(), one, layout.taken());
    EXPECT_EQ(start, expected);
    ASSERT_EQ(layout.create({one, start}), Refusal::none);
  }
  EXPECT_EQ(best_start(a100(), one, layout.taken()), -1) << "an eighth of the memory is lost";
}

TEST(Lattice, WeightsSayWhichOptionsToKeep) {
  std::vector<double> only_four(a100().profiles.size());
  only_four[static_cast<std::size_t>(profile(a100(), "4g.40gb"))] = 1;
  const int three = profile(a100(), "3g.40gb");
  EXPECT_EQ(best_start(a100(), three, {}, only_four), 4);
  std::vector<double> single(a100().profiles.size());
  single[static_cast<std::size_t>(profile(a100(), "1g.10gb"))] = 1;
  const Taken top{.slices = 0b1000'0000};  // a wide 1g's second slice, say
  EXPECT_EQ(best_start(a100(), three, top, single), 0) << "the only start that is left";
}

TEST(Lattice, FragmentsAreTheFreeSlicesThatAProfileFindsInVain) {
  std::vector<double> mix(a100().profiles.size());
  mix[static_cast<std::size_t>(profile(a100(), "1g.10gb"))] = 0.5;
  mix[static_cast<std::size_t>(profile(a100(), "4g.40gb"))] = 0.5;
  EXPECT_DOUBLE_EQ(unusable(a100(), {}, mix), 0);
  EXPECT_DOUBLE_EQ(unusable(a100(), {.slices = 0b0000'0001}, mix), 3.5) << "4g finds 7 in vain";
  EXPECT_DOUBLE_EQ(unusable(a100(), {.slices = 0b0111'1111}, mix), 1) << "both find slice 7 so";
}

TEST(Lattice, OneInstanceAtMostOwnsTheMediaEngines) {
  Layout layout(a100());
  const int media = profile(a100(), "1g.10gb+me");
  EXPECT_EQ(layout.create({media, 2}), Refusal::none);
  EXPECT_EQ(layout.refusal({media, 3}), Refusal::instance_limit);
  EXPECT_EQ(best_start(a100(), media, layout.taken()), -1);
  EXPECT_GE(best_start(a100(), profile(a100(), "1g.10gb"), layout.taken()), 0);
}

TEST(Lattice, AChangeDestroysOnlyWhatStandsInTheWay) {
  Layout layout(a100());
  const int one = profile(a100(), "1g.10gb");
  const int two = profile(a100(), "2g.20gb");
  const int three = profile(a100(), "3g.40gb");
  for (const Instance& each : {Instance{one, 6}, Instance{two, 4}, Instance{two, 0}}) {
    ASSERT_EQ(layout.create(each), Refusal::none);
  }
  EXPECT_EQ(layout.change_for({two, 0}).operations(), 0) << "it is there";
  const Reconfiguration made = layout.make({three, 4});
  EXPECT_EQ(made.destroyed, (std::vector<Instance>{{one, 6}, {two, 4}}));
  EXPECT_EQ(made.operations(), 3);
  EXPECT_TRUE(layout.has({two, 0}));
  EXPECT_TRUE(layout.has({three, 4}));
}

TEST(LatticeDeathTest, DestroysNoInstanceThatIsNotThere) {
  Layout layout(a100());
  EXPECT_DEATH(layout.destroy({0, 3}), "no instance of profile 0 at 3");
}

/// What the ledger builds on: slices and media engines say all, counts and compute never bind.
TEST(Lattice, WhatIsTakenSaysWhatFitsInEveryStateOfEveryBoard) {
  std::size_t states = 0;
  for (const Board& board : boards()) {
    each_state(board, [&](const Layout& layout) {
      ++states;
      int compute = 0;
      for (const Instance& each : layout.instances()) compute += board[each.profile].compute;
      EXPECT_LE(compute, board.compute);
      for (int each = 0; each < static_cast<int>(board.profiles.size()); ++each) {
        bool any = false;
        for (int start = 0; start < board.memory; ++start) {
          const bool may = layout.refusal({each, start}) == Refusal::none;
          EXPECT_EQ(fits(board[each], start, layout.taken()), may)
              << board.name << " " << board[each].name << " at " << start;
          any = any || may;
        }
        EXPECT_EQ(fits(board[each], layout.taken()), any);
        EXPECT_EQ(best_start(board, each, layout.taken()) >= 0, any);
      }
    });
  }
  EXPECT_EQ(states, 11'671U) << "5 boards of 2,319 states and an A30 of 76, as golden/mig has";
}

RC_GTEST_PROP(Lattice, TheBestStartKeepsAsManyOptionsAsAnyOther, ()) {
  const Board& board = **rc::gen::elementOf(std::vector<const Board*>{
      find_board("A100-40GB"), find_board("H200-141GB"), find_board("A30-24GB")});
  Layout layout(board);
  for (const auto& [which, where] :
       *rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
           rc::gen::inRange(0, static_cast<int>(board.profiles.size())), rc::gen::inRange(0, 8)))) {
    layout.create({which, where});
  }
  std::vector<double> weights;
  if (*rc::gen::arbitrary<bool>()) {
    weights = *rc::gen::container<std::vector<double>>(
        board.profiles.size(),
        rc::gen::map(rc::gen::inRange(0, 5), [](int each) { return double{each / 4.}; }));
  }
  const int wanted = *rc::gen::inRange(0, static_cast<int>(board.profiles.size()));
  const int best = best_start(board, wanted, layout.taken(), weights);
  const auto left_after = [&](int start) {
    Layout after = layout;
    RC_ASSERT(after.create({wanted, start}) == Refusal::none);
    // Counted the slow way: each profile at each start, without those that own the media engines.
    double left = 0;
    for (int each = 0; each < static_cast<int>(board.profiles.size()); ++each) {
      if (board[each].media && board[each].memory < board.memory) continue;
      for (int at = 0; at < board.memory; ++at) {
        const Refusal refused = after.refusal({each, at});
        const bool is_open = refused == Refusal::none || refused == Refusal::media_taken;
        left += is_open ? (weights.empty() ? 1 : weights[static_cast<std::size_t>(each)]) : 0;
      }
    }
    return left;
  };
  for (int start = 0; start < board.memory; ++start) {
    if (layout.refusal({wanted, start}) != Refusal::none) continue;
    RC_ASSERT(best >= 0);
    const double other = left_after(start);
    RC_ASSERT(left_after(best) > other || (left_after(best) == other && best >= start));
  }
}

TEST(Part, IsTheLeastOfTheBoardsThatHaveTheProfile) {
  EXPECT_EQ(least_part("1g.10gb"), 0.125) << "of the smaller A100 it is a quarter";
  EXPECT_EQ(least_part("1g.6gb"), 0.25);
  EXPECT_EQ(least_part("3g.40gb"), 0.5);
  EXPECT_EQ(least_part("7g.80gb"), 1);
  EXPECT_EQ(least_part("9g.9gb"), 1);
}

}  // namespace
}  // namespace almanac::slices
