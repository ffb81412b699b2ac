// SPDX-License-Identifier: Apache-2.0

/// \file
/// The energy commands as a user calls them.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/shared_data.h"

namespace almanac {
namespace {

TEST(EnergyForecast, DoesNotLoseToPersistenceOnPhilly) {
  const auto path = shared_path("data/series/philly_active_nodes_2017-10_to_11.csv.gz");
  if (!path) GTEST_SKIP() << "the series of Philly is not at hand";
  const auto run = run_program({"energy", "forecast", *path, "--column", "active", "--horizon",
                                "3h", "--from", "2017-11-01", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = nlohmann::json::parse(run.out);
  EXPECT_EQ(made["n"], 30 * 144);
  EXPECT_NEAR(made["persistence_smape"], 3.5927, 1e-4);
  EXPECT_LT(made["smape"], made["persistence_smape"]);
  EXPECT_NEAR(made["coverage"]["0.9"], 0.9, 0.02);
}

TEST(EnergyForecast, BeatsPersistenceOnEarthByFivePercent) {
  const auto path = shared_path("golden/ces/earth_ces.csv");
  if (!path) GTEST_SKIP() << "the series of Earth is not at hand";
  const auto run = run_program({"energy", "forecast", *path, "--column", "used", "--start",
                                "2020-09-01", "--step", "10m", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = nlohmann::json::parse(run.out);
  EXPECT_NEAR(made["persistence_smape"], 3.5723, 1e-4);
  EXPECT_LT(made["smape"], 0.95 * made["persistence_smape"].get<double>());
}

TEST(EnergyForecast, SaysWhatIsWrongInOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder / "series.csv";
  std::ofstream(path) << "time,active\n2020-01-01 00:00:00,3\n2020-01-01 00:01:00,many\n";
  const auto says = [&](std::vector<std::string> arguments, int status, const std::string& text) {
    arguments.insert(arguments.begin(), {"energy", "forecast", path});
    const auto run = run_program(arguments);
    EXPECT_EQ(run.status, status);
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  };
  says({"--column", "actve"}, 66, "did you mean active?");
  says({}, 65, "series.csv:3: active is \"many\", which is no number");
  says({"--horizon", "soon"}, 2, "--horizon is \"soon\", which is no length of time");
}

}  // namespace
}  // namespace almanac
