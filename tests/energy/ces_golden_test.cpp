// SPDX-License-Identifier: Apache-2.0

/// \file
/// The loop against the node counts that the Helios artifact computed for Earth and Philly.
#include <gtest/gtest.h>

#include "energy/ces.h"
#include "support/shared_data.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::energy {
namespace {

struct Golden {
  std::vector<int> used, predicted, active, total;
};

Golden read_golden(const std::string& path) {
  auto csv = table::CsvReader::open(path).value();
  Golden golden;
  const auto whole = [&](std::size_t column) {
    return static_cast<int>(text::parse_whole(csv[column]).value());
  };
  while (csv.next().value()) {
    golden.used.push_back(whole(0));
    golden.predicted.push_back(whole(1));
    golden.active.push_back(whole(2));
    golden.total.push_back(whole(3));
  }
  return golden;
}

/// Every step equal, and the rows of Table 5 (helios_philly.md, section 3.3).
void expect_equal(const std::string& file, const char* profile, const CesFigures& table5) {
  const auto path = shared_path(file);
  if (!path) GTEST_SKIP() << file << " is not at hand";
  const Golden golden = read_golden(*path);
  const CesTrack track =
      run_ces(golden.used, golden.predicted, golden.total, ces_profile(profile).value());
  ASSERT_GT(golden.active.size(), 2000U);
  for (std::size_t at = 0; at < golden.active.size(); ++at) {
    ASSERT_EQ(track.active[at], golden.active[at]) << "step " << at;
  }
  const CesFigures figures = ces_figures(track, golden.used, golden.total);
  EXPECT_NEAR(figures.nodes_asleep, table5.nodes_asleep, 5e-5);
  EXPECT_EQ(figures.wake_ups, table5.wake_ups);
  EXPECT_NEAR(figures.wake_ups_a_day, table5.wake_ups_a_day, 5e-5);
  EXPECT_NEAR(figures.nodes_a_wake_up, table5.nodes_a_wake_up, 5e-5);
  EXPECT_NEAR(figures.utilization_before, table5.utilization_before, 5e-5);
  EXPECT_NEAR(figures.utilization_after, table5.utilization_after, 5e-5);
}

TEST(CesGolden, Earth) {
  expect_equal("golden/ces/earth_ces.csv", "earth",
               {20.4901, 28, 1.3333, 6.6786, 82.1294, 95.0629});
}

TEST(CesGolden, Philly) {
  expect_equal("golden/ces/philly_ces.csv", "philly",
               {100.1106, 7, 0.5, 27.1429, 68.9752, 90.4123});
}

}  // namespace
}  // namespace almanac::energy
