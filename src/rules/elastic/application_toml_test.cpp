// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/elastic/application_file.h"
#include "support/temporary_folder.h"

namespace almanac::elastic {
namespace {

using testing::HasSubstr;

class ElasticToml : public testing::Test {
 protected:
  Result<Applications> read(const std::string& text) {
    return read_elastic(folder_.write("elastic.toml", text));
  }
  std::string error(const std::string& text) {
    const auto made = read(text);
    return made ? "no error" : to_string(made.error());
  }

  TemporaryFolder folder_;
};

constexpr const char* kSmall =
    "[[application]]\nname = 'small'\nbatch = 10\nlocal_batch = [1, 10]\nsteps = 100\n"
    "pass_s = [0.5, 0.05]\n";

TEST_F(ElasticToml, SaysHowLongStepsTakeAndHowFarTheyGo) {
  const auto made = read(std::string(kSmall) +
                         "max_batch = 20\nwithin_s = [0.25, 0.125]\n"
                         "gradient = [[1, 0], [1, 1]]\n");
  ASSERT_TRUE(made) << to_string(made.error());
  const Application& small = made->at("small");
  // A pass of five samples, and an exchange of three GPUs in a node.
  const int one_node[] = {3};
  EXPECT_NEAR(small.steps.at(one_node, 5)->step_s, 0.75 + 0.375, 1e-12);
  EXPECT_NEAR(small.steps.at(one_node, 5)->sync_s, 0.375, 1e-12);
  EXPECT_EQ(small.completion_epoch, 1);
  EXPECT_EQ(small.progress_after(1), 50);
  EXPECT_EQ(small.progress_after(2), 100);
  // In the second epoch a step of twice the batch is worth 4/3 steps.
  EXPECT_NEAR(small.iterations(20, 1), 50 + 37.5, 1e-9);
}

TEST_F(ElasticToml, NamesTheFirstThingThatIsWrong) {
  EXPECT_THAT(error("[[application]]\nnmae = 'small'\n"),
              HasSubstr("elastic.toml:2:1: unknown key nmae (did you mean name?)"));
  EXPECT_THAT(error("[[application]]\nbatch = 8\n"), HasSubstr("an application needs a name"));
  EXPECT_THAT(error("[[application]]\nname = 'x'\n"), HasSubstr("an application needs batch"));
  EXPECT_THAT(error("[[application]]\nname = 'x'\nbatch = 0\n"),
              HasSubstr("batch must be a whole number from 1 to a billion"));
  EXPECT_THAT(error(std::string(kSmall) + "max_batch = 9\n"),
              HasSubstr("max_batch must not be below batch"));
  EXPECT_THAT(error(std::string(kSmall) + "overlap = 0.5\n"),
              HasSubstr("overlap must be 1 or more"));
  EXPECT_THAT(error(std::string(kSmall) + "gradient = [1, 2]\n"),
              HasSubstr("gradient must be a list of its squared norm and variance"));
  EXPECT_THAT(error(std::string(kSmall) + kSmall), HasSubstr("two applications are named small"));
  EXPECT_THAT(error(""), HasSubstr("the file is empty"));
}

TEST_F(ElasticToml, AFolderHasThePublishedTables) {
  const auto made = read_elastic(folder_ / ".");
  ASSERT_FALSE(made);
  EXPECT_THAT(to_string(made.error()), HasSubstr("expected elastic/pollux and profiles/adaptdl"));
}

}  // namespace
}  // namespace almanac::elastic
