// SPDX-License-Identifier: Apache-2.0
#include "faults/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/model_file.h"

namespace almanac::faults {
namespace {

using testing::HasSubstr;

TEST(FailureModel, DerivesRatesFromCounts) {
  const auto model = parse_model(
      "[observed]\nnodes = 10\ngpus = 8\ndays = 100\njobs = 4\n"
      "[[cause]]\nname = \"board\"\nof = \"node\"\ncount = 5\n"
      "[[cause]]\nname = \"memory\"\nof = \"gpu\"\ncount = 8\n"
      "[[cause]]\nname = \"hang\"\nof = \"software\"\ncount = 16\n"
      "[[cause]]\nname = \"typo\"\nof = \"user\"\ncount = 2\n",
      "m.toml");
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_DOUBLE_EQ(model->node_per_day(8), 0.005 + 8 * 0.001);
  EXPECT_DOUBLE_EQ(model->job_per_day(16), 16 * 0.002 + 0.005);
}

TEST(FailureModel, MeanTimeToFailureOfLlama3IsThePublishedOne) {
  const auto model = read_model("llama3");
  ASSERT_TRUE(model) << to_string(model.error());
  const double days = seconds(model->mean_time_to_failure(16384, 8)) / 86400;
  EXPECT_NEAR(days, 54.0 / (419 + 47), 1e-4);
}

TEST(FailureModel, MeanTimeToFailureOfRsc1IsThePublishedOne) {
  const auto model = read_model("rsc1");
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_NEAR(seconds(model->mean_time_to_failure(16384, 8)) / 3600, 1.8, 0.01);
  EXPECT_NEAR(seconds(model->mean_time_to_failure(1024, 8)) / 3600, 28.8, 0.1);
}

TEST(FailureModel, MeanTimeToFailureOfAcmeIsThatOfItsTable) {
  const auto model = read_model("acme");
  ASSERT_TRUE(model) << to_string(model.error());
  const double days = seconds(model->mean_time_to_failure(4704, 8)) / 86400;
  EXPECT_NEAR(days, 184.0 / 281, 1e-3) << "54 + 21 + 16 + 12 + 12 + 147 + 10 + 9 failures";
}

TEST(FailureModel, EachPresetIsReadable) {
  for (const text::Preset& preset : presets()) {
    EXPECT_TRUE(read_model(std::string(preset.name))) << preset.name;
  }
}

TEST(FailureModel, RefusesWhatItCannotMean) {
  const auto error = [](const char* text) {
    const auto model = parse_model(text, "m.toml");
    return model ? std::string("accepted") : to_string(model.error());
  };
  EXPECT_THAT(error(""), HasSubstr("at least one [[cause]]"));
  EXPECT_THAT(error("[[cause]]\nname = \"a\"\nof = \"node\"\ncount = 1\n"), HasSubstr("m.toml:4"));
  EXPECT_THAT(error("[[cause]]\nname = \"a\"\nof = \"rack\"\nper_1000_days = 1\n"),
              HasSubstr("node, gpu, link, software or user, found \"rack\""));
  EXPECT_THAT(error("[[cause]]\nname = \"a\"\nof = \"user\"\nper_1000_days = 1\nrepair = \"1h\"\n"),
              HasSubstr("repair applies to node, gpu and link only"));
  EXPECT_THAT(error("[[cause]]\nname = \"a\"\nof = \"node\"\nper_1000_days = 1\nrepair = \"2h\"\n"
                    "repair_p90 = \"1h\"\n"),
              HasSubstr("repair_p90 must be at least repair"));
  EXPECT_THAT(error("[[cause]]\nname = \"a\"\nof = \"node\"\nper_1000_days = 1\nrepare = \"2h\"\n"),
              HasSubstr("repair"));
  EXPECT_FALSE(read_model("lama3"));
}

}  // namespace
}  // namespace almanac::faults
