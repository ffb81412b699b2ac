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
  says({"--column", "actve"}, 65, "did you mean active?");
  says({}, 65, "series.csv:3: active is \"many\", which is not a number");
  says({"--horizon", "soon"}, 2, "--horizon must be a time, found \"soon\"");
}

/// Four days of office hours on ten nodes.
void write_office_hours(const std::string& path) {
  std::ofstream out(path);
  out << "time,active,total\n";
  for (int at = 0; at < 4 * 144; ++at) {
    out << 600 * at << "," << (at % 144 < 72 ? 2 : 7) << ",10\n";
  }
}

TEST(EnergySimulate, ComparesPlansAndLeavesAReport) {
  const TemporaryFolder folder;
  write_office_hours(folder / "series.csv");
  const auto run = run_program({"energy", "simulate", folder / "series.csv", "--from", "259200",
                                "--out", folder / "report", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto plans = nlohmann::json::parse(run.out);
  EXPECT_EQ(plans.front()["family"], "always on");
  EXPECT_EQ(plans.front()["nodes_asleep"], 0);
  EXPECT_EQ(plans.back()["family"], "optimum");
  EXPECT_NEAR(plans.back()["nodes_asleep"], 5.5, 1e-9);  // 8 by night, 3 by day
  std::ifstream document(folder / "report/energy.json");
  const auto made = nlohmann::json::parse(document);
  EXPECT_EQ(made["kind"], "energy");
  EXPECT_TRUE(std::ifstream(folder / "report/energy_frontier.csv").good());
}

TEST(EnergyPlan, SaysWhatMaySleep) {
  const TemporaryFolder folder;
  write_office_hours(folder / "series.csv");
  const auto run = run_program({"energy", "plan", folder / "series.csv", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = nlohmann::json::parse(run.out);
  EXPECT_EQ(made["used"], 7);
  EXPECT_EQ(made["total"], 10);
  EXPECT_GE(made["on"], 7);
  EXPECT_EQ(made["on"].get<int>() + made["asleep"].get<int>(), 10);
  EXPECT_EQ(made["ahead"].size(), 5U);
}

TEST(EnergySimulate, SaysWhatIsWrongInOneLine) {
  const TemporaryFolder folder;
  write_office_hours(folder / "series.csv");
  std::ofstream(folder / "negative.csv") << "time,active,total\n0,-1,10\n600,2,10\n";
  std::ofstream(folder / "none.csv") << "time,active,total\n0,0,0\n600,0,0\n";
  const auto says = [&](const std::vector<std::string>& arguments, int status,
                        const std::string& text) {
    const auto run = run_program(arguments);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  };
  const std::string series = folder / "series.csv";
  says({"energy", "simulate", series, "--total", "totl"}, 65, "did you mean total?");
  says({"energy", "simulate", series, "--from", "2040-01-01"}, 2, "after the end of the series");
  says({"energy", "simulate", series, "--profile", "mars"}, 2, "known: venus");
  says({"energy", "simulate", folder / "negative.csv"}, 65, "expected 0 <= nodes in use <= total");
  says({"energy", "plan", folder / "none.csv"}, 65, "the series has no nodes");
}

}  // namespace
}  // namespace almanac
