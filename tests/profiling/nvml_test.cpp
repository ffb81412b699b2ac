// SPDX-License-Identifier: Apache-2.0

/// \file
/// NVML by a driver that is none (tests/boards/fake_driver.cpp), which the loader finds before any
/// other.
#include "gpu/nvml.h"

#include <cstdlib>
#include <fstream>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace almanac::gpu {
namespace {

TEST(NvmlTest, TellsOfTheGpusThatTheDriverHas) {
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << to_string(nvml.error());
  ASSERT_EQ(nvml->count(), 2);
  EXPECT_EQ(nvml->name(0), "NVIDIA Testing 80GB");
  EXPECT_EQ(nvml->uuid(1), "GPU-2000-test");
  EXPECT_EQ(nvml->memory_gb(0), 80);
  EXPECT_EQ(nvml->sample(0).use, 0.8);
  EXPECT_EQ(nvml->sample(0).memory_gb, 10);
  EXPECT_EQ(nvml->sample(1).use, std::nullopt);
  EXPECT_EQ(nvml->sample(1).memory_gb, 10);
  EXPECT_EQ(nvml->name(2), "");
  EXPECT_EQ(nvml->sample(2).memory_gb, std::nullopt);
}

TEST(NvmlTest, TellsWhoComputesOnAGpu) {
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << to_string(nvml.error());
  EXPECT_TRUE(nvml->holders(0)->empty());
  const std::string file = testing::TempDir() + "/processes";
  std::ofstream(file) << "4711 1536\n17\n4712 512 mps\n";
  ::setenv("FAKE_PROCESSES", file.c_str(), 1);
  EXPECT_EQ(nvml->holders(0).value(),
            (std::vector<Holder>{{17, std::nullopt}, {4711, 1.5}, {4712, 0.5}}));
  ::unsetenv("FAKE_PROCESSES");
  EXPECT_EQ(nvml->holders(1).error().message, "Insufficient Permissions");
  EXPECT_EQ(nvml->holders(2).error().message, "the driver does not list processes");
}

TEST(NvmlTest, HoldsAGpuToWhatItMayDraw) {
  auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << to_string(nvml.error());
  EXPECT_EQ(nvml->sample(0).power_w, 300);
  EXPECT_TRUE(nvml->limit_power(0, 212.5));
  EXPECT_EQ(nvml->sample(0).power_w, 212.5);
  EXPECT_EQ(nvml->limit_power(0, 20).error().message, "Invalid Argument");
  EXPECT_EQ(nvml->limit_power(1, 200).error().message, "Insufficient Permissions");
  EXPECT_EQ(nvml->limit_power(2, 200).error().message, "the driver has no power limits");
  EXPECT_EQ(nvml->sample(0).power_w, 212.5);
}

TEST(NvmlTest, KeepsTheLimitWhenNobodyUsesTheGpu) {
  // The library's memory stands for the driver's: it is to outlive those that open it.
  ASSERT_NE(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NODELETE), nullptr);
  EXPECT_TRUE(Nvml::open()->limit_power(0, 150));
  EXPECT_EQ(Nvml::open()->sample(0).power_w, 300);
  {
    auto nvml = Nvml::open();
    EXPECT_TRUE(nvml->persist(0));
    EXPECT_TRUE(nvml->limit_power(0, 150));
    EXPECT_EQ(nvml->persist(1).error().message, "Insufficient Permissions");
  }
  EXPECT_EQ(Nvml::open()->sample(0).power_w, 150);
}

TEST(NvmlTest, SaysThatTheDriverDoesNotStart) {
  ::setenv("FAKE_BROKEN", "1", 1);
  const auto nvml = Nvml::open();
  ::unsetenv("FAKE_BROKEN");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(to_string(nvml.error()), "NVML cannot be started: Driver Not Loaded");
}

}  // namespace
}  // namespace almanac::gpu
