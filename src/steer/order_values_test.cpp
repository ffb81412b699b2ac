// SPDX-License-Identifier: Apache-2.0
#include "steer/order_values.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::steer {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr Window kWide{.lowest = 1, .highest = 1'000'000'000};

std::int64_t changes(const Numbers& before, const Numbers& after) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < before.size(); ++at) count += before[at] != after[at] ? 1 : 0;
  return count;
}

bool falls(const Numbers& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::less_equal<>()) == numbers.end();
}

/// The fewest changes there can be, by trying every set of numbers that stay.
std::int64_t fewest(const Numbers& present, const Window& window) {
  const auto count = static_cast<std::int64_t>(present.size());
  std::int64_t best = count;
  for (std::uint32_t stay = 0; stay < (1U << present.size()); ++stay) {
    std::int64_t ceiling = window.highest;  // for the job at hand
    bool possible = true;
    std::int64_t changed = 0;
    for (std::int64_t at = 0; at < count; ++at) {
      const auto place = static_cast<std::size_t>(at);
      if ((stay >> place & 1U) != 0) {
        possible = possible && present[place] <= ceiling;
        ceiling = present[place] - 1;
      } else {
        ++changed;
        --ceiling;
      }
      possible = possible && ceiling >= window.lowest - 1;
    }
    if (possible) best = std::min(best, changed);
  }
  return best;
}

TEST(Renumber, LeavesALineThatIsInOrder) {
  const Numbers line{90, 50, 49, 3};
  EXPECT_EQ(renumber(line, kWide), line);
}

TEST(Renumber, ChangesOnlyTheOneThatCameOrMoved) {
  const Numbers begun = renumber(Numbers(1000, 0), kWide);
  EXPECT_TRUE(falls(begun));
  for (const std::size_t place : {0U, 1U, 500U, 999U, 1000U}) {
    Numbers line = begun;
    line.insert(line.begin() + place, 0);
    const Numbers made = renumber(line, kWide);
    EXPECT_TRUE(falls(made));
    EXPECT_EQ(changes(line, made), 1) << "at " << place;
  }
}

TEST(Renumber, FindsRoomForAThousandThatComeToTheFrontOneByOne) {
  Numbers line = renumber(Numbers(1000, 0), kWide);
  for (int each = 0; each < 1000; ++each) {
    line.insert(line.begin(), 0);
    Numbers made = renumber(line, kWide);
    EXPECT_EQ(changes(line, made), 1);
    line = std::move(made);
  }
  EXPECT_TRUE(falls(line));
  EXPECT_LE(line.front(), kWide.highest);
}

TEST(Renumber, GivesTheLastTheLowestWhereNumbersRunOut) {
  EXPECT_EQ(renumber(Numbers{0, 0, 0, 0, 0}, {.lowest = 1, .highest = 3}),
            (Numbers{3, 2, 1, 1, 1}));
  EXPECT_EQ(renumber(Numbers{3, 2, 1, 1, 1}, {.lowest = 1, .highest = 3}),
            (Numbers{3, 2, 1, 1, 1}));
}

RC_GTEST_PROP(Renumber, OrdersWithTheFewestChangesThereCanBe, ()) {
  const auto range = *rc::gen::inRange<std::int64_t>(1, 20);
  const Window window{.lowest = -5, .highest = -5 + range};
  const auto most = static_cast<std::size_t>(std::min<std::int64_t>(10, range + 1));
  const auto count = *rc::gen::inRange<std::size_t>(0, most + 1);
  const auto present =
      *rc::gen::container<Numbers>(count, rc::gen::inRange<std::int64_t>(-8, range));
  const Numbers made = renumber(present, window);
  RC_ASSERT(made.size() == present.size());
  RC_ASSERT(falls(made));
  for (const std::int64_t number : made) {
    RC_ASSERT(number >= window.lowest);
    RC_ASSERT(number <= window.highest);
  }
  RC_ASSERT(changes(present, made) == fewest(present, window));
}

}  // namespace
}  // namespace almanac::steer
