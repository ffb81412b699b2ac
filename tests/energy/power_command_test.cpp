// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands on power models as a user calls them.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

TEST(EnergyPower, ListsModels) {
  const auto run = run_program({"energy", "power"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("dgx1\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("helios\n"), std::string::npos) << run.out;
}

TEST(EnergyPower, TellsAYearByHand) {
  const auto run = run_program({"energy", "power", "helios", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = nlohmann::json::parse(run.out);
  for (const auto& state : made["node"]) {
    const double kwh = state["draw_w"].get<double>() * 3 * 8.76;  // factor 3, 8,760 h
    EXPECT_NEAR(state["kwh_a_year"], kwh, 1e-6) << state;
  }
  EXPECT_EQ(made["limits"][0]["speed"], 1);
  EXPECT_EQ(made["limits"][0]["board_energy_per_work"], 1);
}

TEST(EnergyPower, SaysOnWhichBoardPowerLimitsWereMeasured) {
  const auto borrowed = run_program({"energy", "power", "h200"});
  EXPECT_NE(borrowed.err.find("measured on the V100; the H200 is assumed"), std::string::npos)
      << borrowed.err;
  EXPECT_EQ(run_program({"energy", "power", "dgx1"}).err, "");
  EXPECT_EQ(run_program({"energy", "power", "a40"}).err, "");
}

TEST(EnergyPower, PrintsAFileThatItReadsBack) {
  const TemporaryFolder folder;
  const auto printed = run_program({"energy", "power", "a40", "-o", "toml"});
  ASSERT_EQ(printed.status, 0) << printed.err;
  const std::string path = folder.write("mine.toml", printed.out);
  EXPECT_EQ(run_program({"energy", "power", path, "-o", "toml"}).out, printed.out);
}

TEST(EnergyPower, SaysWhatIsWrongInOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("mine.toml", "extends = \"dgx1\"\nidel_w = 700\n");
  const auto says = [](const std::vector<std::string>& arguments, int status,
                       const std::string& text) {
    const auto run = run_program(arguments);
    EXPECT_EQ(run.status, status);
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  };
  says({"energy", "power", path}, 65, "mine.toml:2:1: unknown key idel_w (did you mean idle_w?)");
  says({"energy", "power", "heilos"}, 2,
       "no power model is named \"heilos\" (did you mean helios?)");
  says({"energy", "fit-power", path, path, "--out", folder / "gpu.toml"}, 2, "--out takes one");
}

TEST(EnergyFitPower, WritesABoardThatAModelTakes) {
  const auto profile = shared_path("data/profiles/zeus/summary_power_p100.csv");
  if (!profile) GTEST_SKIP() << "the Zeus profiles are not at hand";
  const TemporaryFolder folder;
  const std::string path = folder / "board.toml";
  const auto fit = run_program({"energy", "fit-power", *profile, "--out", path});
  ASSERT_EQ(fit.status, 0) << fit.err;
  std::ifstream board(path);
  const std::string text(std::istreambuf_iterator<char>(board), {});
  const std::string model = folder.write("model.toml", "extends = \"dgx1\"\n" + text);
  // The preset is what the command prints.
  EXPECT_EQ(run_program({"energy", "power", model, "-o", "toml"}).out,
            run_program({"energy", "power", "p100", "-o", "toml"}).out);
}

}  // namespace
}  // namespace almanac
