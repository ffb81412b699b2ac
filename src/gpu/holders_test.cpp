// SPDX-License-Identifier: Apache-2.0
#include "gpu/holders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace almanac::gpu {
namespace {

constexpr std::uint64_t kGigabyte = 1ULL << 30;
constexpr std::uint64_t kNotTold = ~0ULL;

struct Told {
  std::uint32_t process;
  std::uint64_t memory;
};

/// A driver that lists these, in entries of `size`, of which all after the memory are ones, as
/// without instances, and then a zero: memory that is protected.
template <std::size_t size>
int list(void* device, unsigned* count, void* entries) {
  const auto& told = *static_cast<std::vector<Told>*>(device);
  if (*count < told.size()) return 7;
  auto* at = static_cast<std::uint8_t*>(entries);
  for (const Told& each : told) {
    std::memcpy(at, &each.process, 4);
    std::memcpy(at + 8, &each.memory, 8);
    if (size > 16) std::memset(at + 16, 0xFF, 8);
    if (size > 24) std::memset(at + 24, 0, size - 24);
    at += size;
  }
  *count = static_cast<unsigned>(told.size());
  return 0;
}

TEST(HoldersTest, AreReadHoweverLongTheDriversEntriesAre) {
  std::vector<Told> told{{41, 3 * kGigabyte}, {17, kNotTold}, {4194304, kGigabyte / 2}, {18, 0}};
  const std::vector<Holder> all{{17, std::nullopt}, {18, 0}, {41, 3}, {4194304, 0.5}};
  for (const ListProcesses ask : {&list<16>, &list<24>, &list<32>}) {
    const Holders found = list_holders(ask, &told);
    EXPECT_EQ(found.status, 0);
    EXPECT_TRUE(found.is_understood);
    EXPECT_EQ(found.all, all);
  }
}

TEST(HoldersTest, AreNotGuessedFromEntriesThatNobodyKnows) {
  std::vector<Told> told{{41, kGigabyte}, {17, kGigabyte}};
  const Holders found = list_holders(&list<40>, &told);
  EXPECT_EQ(found.status, 0);
  EXPECT_FALSE(found.is_understood);
  EXPECT_TRUE(found.all.empty());
}

TEST(HoldersTest, NobodyIsAnAnswerToo) {
  std::vector<Told> told;
  const Holders found = list_holders(&list<24>, &told);
  EXPECT_TRUE(found.is_understood);
  EXPECT_TRUE(found.all.empty());
}

TEST(HoldersTest, ManyAreAskedForUntilThereIsRoom) {
  std::vector<Told> told;
  for (std::uint32_t process = 1; process <= 1000; ++process) told.push_back({process, kGigabyte});
  const Holders found = list_holders(&list<24>, &told);
  ASSERT_EQ(found.all.size(), 1000);
  EXPECT_EQ(found.all.back(), (Holder{1000, 1}));
}

TEST(HoldersTest, WhoIsThereForSeveralPartsOfAGpuHoldsTheirSum) {
  std::vector<Told> told{{41, kGigabyte}, {41, 2 * kGigabyte}, {17, kGigabyte}, {17, kNotTold}};
  EXPECT_EQ(list_holders(&list<24>, &told).all, (std::vector<Holder>{{17, std::nullopt}, {41, 3}}));
}

TEST(HoldersTest, ARefusalIsPassedOn) {
  const Holders found = list_holders([](void*, unsigned*, void*) { return 4; }, nullptr);
  EXPECT_EQ(found.status, 4);
  EXPECT_FALSE(found.is_understood);
}

TEST(HoldersTest, OfWhoIsInTwoListsTheGreaterFigureCounts) {
  EXPECT_EQ(joined({{1, 2}, {2, std::nullopt}, {3, 1}}, {{1, 3}, {2, 4}, {4, std::nullopt}}),
            (std::vector<Holder>{{1, 3}, {2, 4}, {3, 1}, {4, std::nullopt}}));
}

}  // namespace
}  // namespace almanac::gpu
