// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/quotas.h"

#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

TEST(Quotas, AreAskedByThemselvesAndCountedForAll) {
  Quotas quotas;
  quotas.add(4);
  quotas.add(8);
  const ClaimId plain = quotas.claim({.counted = {0}, .asked = {0}, .gpus = 2});
  const ClaimId high = quotas.claim({.counted = {0, 1}, .asked = {1}, .gpus = 3});
  EXPECT_EQ(quotas.claim({.counted = {0}, .asked = {0}, .gpus = 2}), plain);
  quotas.take(plain);
  quotas.take(high);
  EXPECT_EQ(quotas.held(0), 5);
  EXPECT_EQ(quotas.held(1), 3);
  EXPECT_FALSE(quotas.has_room(plain));
  EXPECT_TRUE(quotas.has_room(high)) << "what the first quota says is not asked";
  quotas.give_back(high);
  EXPECT_TRUE(quotas.has_room(plain));
  quotas.hold(0, 1);
  EXPECT_FALSE(quotas.has_room(plain));
}

TEST(Quotas, AreNotTakenWhereTheyHaveNoRoom) {
  Quotas quotas;
  quotas.add(4);
  const ClaimId three = quotas.claim({.counted = {0}, .asked = {0}, .gpus = 3});
  quotas.take(three);
  EXPECT_DEATH(quotas.take(three), "no quota has room for 3 more GPUs");
  quotas.adopt(three);
  EXPECT_EQ(quotas.held(0), 6) << "it ran before any quota was asked";
}

TEST(Quotas, FollowAJobThatGoesOnWithOtherGpus) {
  Quotas quotas;
  quotas.add(4);
  const ClaimId two = quotas.claim({.counted = {0}, .asked = {0}, .gpus = 2});
  quotas.put(JobId{0}, two);
  quotas.take(two);
  quotas.change(JobId{0}, quotas.sized(two, 4));
  EXPECT_EQ(quotas.held(0), 4);
  EXPECT_DEATH(quotas.change(JobId{0}, quotas.sized(two, 5)), "room for 5 GPUs instead of 4");
  quotas.change(JobId{0}, quotas.sized(two, 1));
  EXPECT_EQ(quotas.held(0), 1);
  quotas.give_back(quotas.of(JobId{0}));
  EXPECT_EQ(quotas.held(0), 0);
}

TEST(Quotas, ClaimNothingForWhoCountsForNoneOrAsksNoGpus) {
  Quotas quotas;
  quotas.add(0);
  EXPECT_EQ(quotas.claim({.gpus = 2}), kNoClaim);
  EXPECT_EQ(quotas.claim({.counted = {0}, .asked = {0}}), kNoClaim);
  EXPECT_TRUE(quotas.has_room(kNoClaim));
  EXPECT_EQ(quotas.of(JobId{7}), kNoClaim);
}

TEST(Quotas, CanBeAskedForAnotherNumberOfGpus) {
  Quotas quotas;
  quotas.add(4);
  quotas.put(JobId{3}, quotas.claim({.counted = {0}, .asked = {0}, .gpus = 2}));
  quotas.ask(JobId{3}, 8);
  EXPECT_FALSE(quotas.has_room(quotas.of(JobId{3})));
  quotas.ask(JobId{3}, 4);
  quotas.take(quotas.of(JobId{3}));
  EXPECT_EQ(quotas.held(0), 4);
}

}  // namespace
}  // namespace almanac::policy
