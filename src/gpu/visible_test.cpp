// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible.h"

#include <gtest/gtest.h>

namespace almanac::gpu {
namespace {

const std::vector<std::string> kUuids{"GPU-1000", "GPU-2000", "GPU-2001"};

TEST(VisibleTest, AllWhenNothingIsSaid) {
  const auto gpus = visible_gpus(std::nullopt, kUuids);
  ASSERT_EQ(gpus.size(), 3);
  EXPECT_EQ(gpus[2].name, "2");
  EXPECT_EQ(gpus[2].gpu, 2);
  EXPECT_EQ(cuda_visible_devices(gpus, 2), "0,1");
  EXPECT_EQ(cuda_visible_devices({}, 2), "");
}

TEST(VisibleTest, OnlyThoseThatWeWereGiven) {
  const auto gpus = visible_gpus("2,GPU-10,MIG-7,GPU-20,9", kUuids);
  ASSERT_EQ(gpus.size(), 5);
  EXPECT_EQ(gpus[0].gpu, 2);
  EXPECT_EQ(gpus[1].gpu, 0);
  EXPECT_EQ(gpus[2].gpu, std::nullopt);
  EXPECT_EQ(gpus[3].gpu, std::nullopt);  // two begin so
  EXPECT_EQ(gpus[4].gpu, std::nullopt);
  EXPECT_EQ(cuda_visible_devices(gpus, 3), "2,GPU-10,MIG-7");
}

TEST(VisibleTest, WhatFollowsNoNameIsHidden) {
  EXPECT_TRUE(visible_gpus("", kUuids).empty());
  EXPECT_TRUE(visible_gpus("-1", kUuids).empty());
  EXPECT_EQ(visible_gpus("1,-1,0", kUuids).size(), 1);
}

}  // namespace
}  // namespace almanac::gpu
