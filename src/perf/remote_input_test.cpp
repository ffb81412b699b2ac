// SPDX-License-Identifier: Apache-2.0
#include "perf/remote_input.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::perf {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(RemoteInput, SplitsTheCacheEvenlyBetweenThoseOfWhichNobodySaysAnything) {
  EXPECT_THAT(cached_gb(std::array{DataSet{100}, DataSet{20}, DataSet{300}}, 120),
              ElementsAre(50, 20, 50));
  EXPECT_THAT(cached_gb(std::array{DataSet{100, 90}, DataSet{100}}, 120), ElementsAre(90, 30));
  // More is told than there is.
  EXPECT_THAT(cached_gb(std::array{DataSet{100, 90}, DataSet{100, 150}}, 95),
              ElementsAre(DoubleEq(45), DoubleEq(50)));
}

/// Where the line of what is read crosses what is computed: a job that reads 1 GB/s and has 0.25
/// GB/s from afar runs at full speed once 75 of its 100 GB are cached, and at a quarter without.
TEST(RemoteInput, RunsAsFastAsTheSlowerOfReadingAndComputing) {
  const std::array reader{RemoteReader{0, 1}};
  const std::array data{DataSet{100}};
  const auto speed = [&](double cached) {
    return remote_speeds(reader, data, std::array{cached}, 0.25)[0];
  };
  EXPECT_DOUBLE_EQ(speed(0), 0.25);
  EXPECT_DOUBLE_EQ(speed(50), 0.5);
  EXPECT_DOUBLE_EQ(speed(75), 1);
  EXPECT_DOUBLE_EQ(speed(100), 1);
}

TEST(RemoteInput, SharesWhatComesFromAfar) {
  const std::array data{DataSet{100}, DataSet{100}};
  // The second needs less than half of 1 GB/s, so the first gets the rest.
  EXPECT_THAT(remote_speeds(std::array{RemoteReader{0, 1}, RemoteReader{1, 0.25}}, data,
                            std::array{0.0, 0.0}, 1),
              ElementsAre(0.75, 1));
  // Told to take no more than 0.1.
  EXPECT_THAT(remote_speeds(std::array{RemoteReader{0, 1, 0.1}, RemoteReader{1, 1}}, data,
                            std::array{0.0, 0.0}, 1),
              ElementsAre(DoubleEq(0.1), DoubleEq(0.9)));
}

}  // namespace
}  // namespace almanac::perf
