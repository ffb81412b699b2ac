// SPDX-License-Identifier: Apache-2.0
#include "rules/solver/whole_program.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::solver {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(WholeProgram, PacksAKnapsack) {
  WholeProgram program;
  const int weight = program.add_row(WholeProgram::kNoLeast, 10);
  program.add_column(10, 1, std::array{WholeProgram::Term{weight, 6}});
  program.add_column(6, 2, std::array{WholeProgram::Term{weight, 5}});
  EXPECT_THAT(program.maximise(), Optional(ElementsAre(0, 2)));
  EXPECT_THAT(program.minimise(), Optional(ElementsAre(0, 0)));
}

TEST(WholeProgram, SaysWhereThereIsNoAnswer) {
  WholeProgram program;
  const int row = program.add_row(3, 3);
  program.add_column(1, 1, std::array{WholeProgram::Term{row, 2}});
  EXPECT_FALSE(program.maximise());
}

RC_GTEST_PROP(WholeProgram, EqualsTheBestOfAllChoices, ()) {
  constexpr int kMost = 2;
  const auto columns = *rc::gen::inRange(1, 5);
  const auto number = rc::gen::inRange(0, 8);
  const int bounds[] = {*rc::gen::inRange(0, 20), *rc::gen::inRange(0, 20)};
  std::vector<std::array<int, 3>> made;  // worth, then the terms of both rows
  WholeProgram program;
  for (const int most : bounds) program.add_row(WholeProgram::kNoLeast, most);
  for (int column = 0; column < columns; ++column) {
    const auto& of = made.emplace_back(std::array{*number, *number, *number});
    program.add_column(of[0], kMost,
                       std::array{WholeProgram::Term{0, static_cast<double>(of[1])},
                                  WholeProgram::Term{1, static_cast<double>(of[2])}});
  }
  int best = 0;
  int all = 1;
  for (int column = 0; column < columns; ++column) all *= kMost + 1;
  const auto worth_of = [&](const auto& count_of) {
    int sums[3] = {0, 0, 0};
    for (std::size_t column = 0; column < made.size(); ++column) {
      for (std::size_t of = 0; of < 3; ++of) sums[of] += count_of(column) * made[column][of];
    }
    return sums[1] <= bounds[0] && sums[2] <= bounds[1] ? sums[0] : -1;
  };
  for (int choice = 0; choice < all; ++choice) {
    std::vector<int> counts;
    for (int left = choice; std::ssize(counts) < columns; left /= kMost + 1) {
      counts.push_back(left % (kMost + 1));
    }
    best = std::max(best, worth_of([&](std::size_t column) { return counts[column]; }));
  }
  const auto found = program.maximise();
  RC_ASSERT(found);
  RC_ASSERT(worth_of([&](std::size_t column) { return (*found)[column]; }) == best);
}

}  // namespace
}  // namespace almanac::solver
