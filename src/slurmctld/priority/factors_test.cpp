// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/factors.h"

#include <gtest/gtest.h>

#include "slurmctld/priority/example_site_test.h"

namespace almanac::slurmctld {
namespace {

constexpr std::uint32_t kMain = 0, kGpu = 1;

Scales scales(site::PrioritySettings changed) {
  site::Site site = example_site();
  changed.max_age = 10min;
  site.config.priority = changed;
  return Scales(site);
}

site::PrioritySettings all_weights() {
  site::PrioritySettings settings;
  settings.weight_age = 1000;
  settings.weight_assoc = 700;
  settings.weight_fair_share = 10'000;
  settings.weight_job_size = 1500;
  settings.weight_partition = 2000;
  settings.weight_qos = 3000;
  settings.weight_tres = {{site::kCpu, 500}, {site::kMemory, 300}, {8, 2500}};
  return settings;
}

TEST(Factors, AgeIsShareOfMaxAge) {
  const Scales made = scales(all_weights());
  EXPECT_EQ(made.age(150s), 0.25);
  EXPECT_EQ(made.age(599'999ms), 599.0 / 600);
  EXPECT_EQ(made.age(10min), 1);
  EXPECT_EQ(made.age(-5s), 0);
}

TEST(Factors, SizeIsMeanShareOfNodesAndCpus) {
  Size size{.min_nodes = 2, .cpus = 32};
  EXPECT_NEAR(scales(all_weights()).size(size, kMain), (2.0 / 8 + 32.0 / 192) / 2, 1e-15);
  site::PrioritySettings small = all_weights();
  small.favor_small = true;
  EXPECT_NEAR(scales(small).size(size, kMain), (6.0 / 8 + 160.0 / 192) / 2, 1e-15);
}

TEST(Factors, SizeRelativeToTimeCountsCpusPerMinuteOfLimit) {
  site::PrioritySettings settings = all_weights();
  settings.small_relative_to_time = true;
  Size size{.min_nodes = 2, .cpus = 32, .limit_min = 4};
  EXPECT_DOUBLE_EQ(scales(settings).size(size, kMain), 0.0625);
  settings.favor_small = true;
  EXPECT_DOUBLE_EQ(scales(settings).size(size, kMain), 0.9375);
  // Two whole nodes of 32 CPUs, once the select plugin has found them.
  size.total_cpus = 64;
  EXPECT_NEAR(scales(settings).size(size, kMain), 1 - 64.0 / 4 / 192, 1e-15);
  // No limit, and a partition without one: 4294967295 minutes.
  size.limit_min.reset();
  EXPECT_NEAR(scales(settings).size(size, kMain), 1, 1e-9);
}

TEST(Factors, AreShareOfTheLargestUnlessRaw) {
  site::PrioritySettings settings = all_weights();
  EXPECT_EQ(scales(settings).partition(kMain), 0.25);
  EXPECT_EQ(scales(settings).qos(10), 0.01);
  settings.no_normal_partition = true;
  settings.no_normal_qos = true;
  EXPECT_EQ(scales(settings).partition(kMain), 10);
  EXPECT_EQ(scales(settings).qos(10), 10);
  settings.weight_qos = 0;
  EXPECT_EQ(scales(settings).qos(10), 0);
}

TEST(Factors, TresIsShareOfThePartition) {
  site::PrioritySettings settings = all_weights();
  Size size{.requested = example_request()};
  std::vector<double> factors;
  scales(settings).tres(size, kGpu, factors);
  EXPECT_EQ(factors, (std::vector<double>{16.0 / 64, 8000.0 / 256'000, 4.0 / 16}));
  size.held = {{site::kCpu, 32}};
  scales(settings).tres(size, kMain, factors);
  EXPECT_EQ(factors, (std::vector<double>{32.0 / 192, 0, 0}));
  settings.no_normal_tres = true;
  scales(settings).tres(size, kMain, factors);
  EXPECT_EQ(factors, (std::vector<double>{32, 0, 0}));
}

// The first job of a recorded scenario: 13097.19.
TEST(Factors, AddUpAndAreCutToAWholeNumber) {
  const Scales made = scales(all_weights());
  Factors factors{.association = 0.5,
                  .fair_share = 1,
                  .size = made.size({.min_nodes = 1, .cpus = 8}, kGpu),
                  .partition = 1,
                  .qos = 0.01,
                  .nice = 100};
  made.tres({.requested = {{site::kCpu, 8}, {site::kMemory, 4000}, {8, 4}}}, kGpu, factors.tres);
  EXPECT_EQ(made.sum(factors), 13'097U);
  EXPECT_EQ(made.sum_in_other_partition(factors), 13'097U);
}

TEST(Factors, SumIsAtLeastOneAndFitsThirtyTwoBits) {
  site::PrioritySettings settings;
  settings.weight_qos = 4'000'000'000;
  settings.weight_age = 4'000'000'000;
  const Scales made = scales(settings);
  EXPECT_EQ(made.sum({.nice = 500}), 1U);
  EXPECT_EQ(made.sum({.age = 1, .qos = 1}), 4'294'967'295U);
  EXPECT_EQ(made.sum({.site = 7}), 7U);
}

}  // namespace
}  // namespace almanac::slurmctld
