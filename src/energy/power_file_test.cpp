// SPDX-License-Identifier: Apache-2.0
#include "energy/power_file.h"

#include <tuple>

#include <gtest/gtest.h>

namespace almanac::energy {
namespace {

constexpr const char* kBoard =
    "[gpu]\ntype = \"X\"\nlimit_w = 200\nleast_limit_w = 100\nidle = 0.25\nfull = 1\nbend = 2\n"
    "strain = 2\n";

std::string error_of(const std::string& text) {
  const auto read = parse_power(text, "mine.toml");
  return read ? "none" : to_string(read.error());
}

TEST(PowerFile, EveryPresetReadsBackAlike) {
  ASSERT_FALSE(presets().empty());
  for (const text::Preset& preset : presets()) {
    const auto model = read_power(std::string(preset.name));
    ASSERT_TRUE(model.has_value()) << to_string(model.error());
    EXPECT_EQ(model->name, preset.name);
    const auto again = parse_power(to_toml(*model), model->name + ".toml");
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(to_toml(*again), to_toml(*model));
  }
}

TEST(PowerFile, HeliosIsADgx1WithThePapersFacility) {
  const PowerModel dgx1 = read_power("dgx1").value();
  const PowerModel helios = read_power("helios").value();
  EXPECT_EQ(gpu_to_toml(helios), gpu_to_toml(dgx1));
  EXPECT_EQ(dgx1.node_w(0), 800);
  EXPECT_DOUBLE_EQ(dgx1.node_w(8), 3500);
  EXPECT_EQ(helios.facility.pue, 3);
  EXPECT_EQ(helios.facility.price_per_kwh, dgx1.facility.price_per_kwh);
}

/// A node of 8 H100 was measured at 8.48 kW. Each GPU in use adds an eighth of what is above idle.
TEST(PowerFile, NodesOfCurrentBoardsDrawWhatTheirSourcesSay) {
  for (const auto& [name, idle_w, full_w, limit_w] : {std::tuple{"h100", 2330, 8480, 700},
                                                      {"h200", 2330, 8480, 700},
                                                      {"b200", 3270, 11'900, 1000},
                                                      {"mi300x", 2090, 7600, 750}}) {
    const PowerModel model = read_power(name).value();
    EXPECT_EQ(model.node_w(0), idle_w) << name;
    EXPECT_NEAR(model.node_w(8), full_w, 1e-6) << name;
    EXPECT_NEAR(model.gpu_w(), (full_w - idle_w) / 8.0, 1e-6) << name;
    EXPECT_EQ(model.gpu_limit_w, limit_w) << name;
    EXPECT_EQ(model.asleep_w, 10) << name << ", as a DGX-1";
  }
}

TEST(PowerFile, WithoutFullDrawTheBoardsAreAllThatAdds) {
  const auto model = parse_power("gpus = 4\nidle_w = 300\n" + std::string(kBoard), "mine.toml");
  ASSERT_TRUE(model.has_value()) << to_string(model.error());
  EXPECT_EQ(model->full_w, 300 + 4 * 150);  // from 50 W to 200 W each
  EXPECT_EQ(model->booting_w, 300);
  EXPECT_EQ(model->asleep_w, 0);
  EXPECT_EQ(model->facility.pue, 1);
}

TEST(PowerFile, AnotherBoardDropsTheDrawOfTheOldOne) {
  const auto model = parse_power("extends = \"dgx1\"\n" + std::string(kBoard), "mine.toml");
  ASSERT_TRUE(model.has_value()) << to_string(model.error());
  EXPECT_EQ(model->full_w, 800 + 8 * 150);
  EXPECT_EQ(model->gpu_type, "X");
}

TEST(PowerFile, ABoardMayTellHowMuchNetworksUseIt) {
  const auto model = parse_power(
      "gpus = 4\nidle_w = 300\n" + std::string(kBoard) + "[gpu.use]\nvgg-16 = 0.75\n", "mine.toml");
  ASSERT_TRUE(model.has_value()) << to_string(model.error());
  ASSERT_EQ(model->gpu_use.size(), 1);
  EXPECT_EQ(model->gpu_use[0].network, "vgg-16");
  EXPECT_EQ(model->gpu_use[0].use, 0.75);
  EXPECT_EQ(parse_power("extends = \"dgx1\"\n" + std::string(kBoard), "x.toml")->gpu_use.size(), 0)
      << "another board, other uses";
}

TEST(PowerFile, SaysWhatIsWrongAndWhere) {
  const std::string board = kBoard;
  const std::string node = "gpus = 4\nidle_w = 300\n";
  const auto says = [](const std::string& text, const std::string& error) {
    EXPECT_NE(error_of(text).find(error), std::string::npos) << error_of(text);
  };
  says("idle = 3", "mine.toml:1:1: unknown key idle");
  says("idel_w = 3", "unknown key idel_w (did you mean idle_w?)");
  says(node, "mine.toml:1:1: a power model needs a table [gpu]");
  says("gpus = 4\n" + board, "idle_w is missing");
  says("gpus = 1.5\nidle_w = 300\n" + board,
       "mine.toml:1:8: gpus must be a whole number, found 1.5");
  says("gpus = 4\nidle_w = \"300\"\n" + board, "mine.toml:2:10: idle_w must be a number");
  says("gpus = 4\nidle_w = 1000000000000000001\n" + board,
       "idle_w must be 0 to 1000000, found 1e+18");
  says("gpus = 4\nidle_w = nan\n" + board, "idle_w must be 0 to 1000000, found nan");
  says(node + "full_w = 200\n" + board, "full_w must be 300 to 1000000, found 200");
  says(node + "asleep_w = 301\n" + board, "asleep_w must be 0 to 300, found 301");
  says(node + board + "[facility]\npue = 0.9\n", "pue must be 1 to 10, found 0.9");
  says(node + board + "[facility]\nprice = 1\n", "unknown key price");
  says(node + "gpu = 3", "gpu must be a table, written [gpu]");
  says(node + "[gpu]\ntype = \"X\"\n", "mine.toml:3:1: limit_w is missing");
  says(node + board + "[gpu.use]\nbert = 1.5\n", "mine.toml:12:8: bert must be 0 to 1, found 1.5");
  says("extends = \"dgx2\"",
       "mine.toml:1:11: no power model is named \"dgx2\" (did you mean dgx1?)");
  says("extends = \"dgx1\"\nidle_w = 4000", "idle_w is above full_w");
  says("gpus = ", "mine.toml:1");
}

TEST(PowerFile, NamesThePresetsForANameThatIsNone) {
  const auto read = read_power("dgx");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, Code::usage);
  EXPECT_EQ(read_power("no/such.toml").error().code, Code::not_found);
}

}  // namespace
}  // namespace almanac::energy
