// SPDX-License-Identifier: Apache-2.0

/// \file
/// Soft limits as texts, there and back.
#include "process/resource_limits.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace almanac::process {
namespace {

TEST(ResourceLimits, AreToldReadAndSet) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto some = read_resource_limits({"nofile=77", "core=unlimited"});
  ASSERT_TRUE(some) << to_string(some.error());
  limit_resources(*some);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, 77U);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  const auto told = resource_limits();
  EXPECT_EQ(std::count(told.begin(), told.end(), "nofile=77"), 1);
  limit_resources(read_resource_limits({"nofile=unlimited"}).value());
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max) << "no more than it may";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(read_resource_limits(told));
}

TEST(ResourceLimits, AreRefusedWhereTheyAreNone) {
  for (const char* const wrong : {"nofile", "nofile=", "files=3", "nofile=-1", "nofile=3k", ""}) {
    EXPECT_FALSE(read_resource_limits({wrong})) << wrong;
  }
  EXPECT_FALSE(read_resource_limits({"core=0", "core=1"}));
}

}  // namespace
}  // namespace almanac::process
