// SPDX-License-Identifier: Apache-2.0
#include "perf/shared_in_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/shared_data.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::perf {
namespace {

TEST(SharedInTime, JobsThatTakeTurnsShareTheTime) {
  EXPECT_EQ(turn_speed(0), 1);
  EXPECT_EQ(turn_speed(3), 0.25);
  EXPECT_EQ(mps_speed(0), 1);
  EXPECT_DOUBLE_EQ(mps_speed(2), 1 / 1.182);
}

TEST(SharedInTime, TheSlowdownUnderMpsIsTheMedianOfTheMeasuredPairs) {
  const auto path = shared_path("data/mps_v100/pairs.csv");
  if (!path) GTEST_SKIP() << "data/mps_v100 is not at hand";
  auto csv = table::CsvReader::open(*path);
  ASSERT_TRUE(csv) << to_string(csv.error());
  std::vector<double> slowdowns;
  const auto number = [&](const char* column) {
    return text::parse_decimal((*csv)[*csv->find(column)]).value();
  };
  for (auto more = csv->next(); more && *more; more = csv->next()) {
    slowdowns.push_back(number("latency_a_ms") / number("solo_a_ms"));
    slowdowns.push_back(number("latency_b_ms") / number("solo_b_ms"));
  }
  ASSERT_GT(slowdowns.size(), 1U);
  std::sort(slowdowns.begin(), slowdowns.end());
  const std::size_t half = slowdowns.size() / 2;
  const double median = (slowdowns[half] + slowdowns[slowdowns.size() - 1 - half]) / 2;
  EXPECT_NEAR(kMpsSlowdown, median, 5e-4);
  double error = 0;
  double error_without = 0;  // were there no slowdown
  for (const double each : slowdowns) {
    error += std::abs(kMpsSlowdown / each - 1);
    error_without += std::abs(1 / each - 1);
  }
  EXPECT_LT(error, error_without / 2);
}

}  // namespace
}  // namespace almanac::perf
