// SPDX-License-Identifier: Apache-2.0
#include "predict/examples.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace almanac::predict {
namespace {

/// `count` jobs that ended; each is told by its `log`, its number from one on.
Examples ended(std::size_t count, std::size_t most) {
  Examples made(most);
  for (std::size_t number = 1; number <= count; ++number) {
    made.add({.log = static_cast<float>(number)});
    EXPECT_LE(made.all().size(), 2 * most);
  }
  return made;
}

TEST(Examples, KeepsAllWhileTheyAreFew) {
  Examples few = ended(100, 100);
  few.thin();
  ASSERT_EQ(few.all().size(), 100U);
  EXPECT_EQ(few.all().front().log, 1);
  EXPECT_EQ(few.all().back().log, 100);
  EXPECT_EQ(few.since(70), 30U);
}

TEST(Examples, LeavesAsManyOfEachOctaveOfAges) {
  constexpr std::size_t kCount = 40'000;
  constexpr std::size_t kMost = 1'000;
  Examples many = ended(kCount, kMost);
  many.thin();
  EXPECT_EQ(many.ended(), kCount);
  EXPECT_LE(many.all().size(), kMost);
  EXPECT_GE(many.all().size(), kMost - 20);
  EXPECT_TRUE(std::is_sorted(many.all().begin(), many.all().end(),
                             [](const Example& a, const Example& b) { return a.log < b.log; }));
  const auto younger = [&](std::size_t age) { return many.since(kCount - age); };
  EXPECT_EQ(younger(200), 200U) << "the latest are all there";
  // c + c / 2 x log2(40,000 / c) = 1,000 gives c = 225.
  for (std::size_t age = 500; age <= 16'000; age *= 2) {
    EXPECT_NEAR(static_cast<double>(younger(2 * age) - younger(age)), 112, 25) << age;
  }
}

TEST(Examples, KnowsWhichEndedSince) {
  Examples many = ended(5'000, 100);
  many.thin();
  const auto after = [&](float number) {
    return std::count_if(many.all().begin(), many.all().end(),
                         [&](const Example& each) { return each.log > number; });
  };
  for (const std::uint64_t before : {0U, 1'000U, 4'096U, 4'990U, 5'000U}) {
    EXPECT_EQ(many.since(before), static_cast<std::size_t>(after(static_cast<float>(before))));
  }
}

}  // namespace
}  // namespace almanac::predict
