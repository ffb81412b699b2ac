// SPDX-License-Identifier: Apache-2.0
#include "failure/log_name.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace almanac::failure {
namespace {

struct Case {
  const char* path;
  const char* id;
  std::optional<int> attempt;
  const char* stem;
};

class LogNames : public testing::TestWithParam<Case> {};

TEST_P(LogNames, TellJobAttemptAndStem) {
  const LogName read = read_log_name(GetParam().path);
  EXPECT_EQ(read.id, GetParam().id);
  EXPECT_EQ(read.attempt, GetParam().attempt);
  EXPECT_EQ(read.stem, GetParam().stem);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, LogNames,
    testing::Values(Case{"slurm-4711.out", "4711", {}, "slurm-4711"},
                    Case{"slurm-4711_12.out.gz", "4711_12", {}, "slurm-4711_12"},
                    Case{"123_4.err", "123_4", {}, "123_4"}, Case{"4711.out", "4711", {}, "4711"},
                    Case{"job-815.log", "815", {}, "job-815"},
                    Case{"train.o4711", "4711", {}, "train.4711"},
                    Case{"train.e4711", "4711", {}, "train.4711"},
                    Case{"application_1506638472019_10238/1/stdout.log",
                         "application_1506638472019_10238", 1, "application_1506638472019_10238/1"},
                    Case{"application_1506638472019_10238/1/stderr.log",
                         "application_1506638472019_10238", 1, "application_1506638472019_10238/1"},
                    Case{"x/container_e01_1506638472019_10238_02_000001/stderr",
                         "application_1506638472019_10238", 2,
                         "x/container_e01_1506638472019_10238_02_000001"},
                    Case{"4711/attempt_3/rank12.err", "4711", 3, "4711/attempt_3"},
                    Case{"run/train-rank3.stderr.zst", "", {}, "run/train"},
                    Case{"2024-05-01/resnet.log", "", {}, "2024-05-01/resnet"},
                    Case{"stdout.log", "", {}, ""}));

TEST(LogName, OffersWordsToBeLookedUp) {
  const LogName read = read_log_name("vision/resnet_j88-4711-rank0.out");
  const auto offers = [&](const char* id) {
    return std::find(read.ids.begin(), read.ids.end(), id) != read.ids.end();
  };
  EXPECT_TRUE(offers("4711"));
  EXPECT_TRUE(offers("resnet_j88"));
  EXPECT_FALSE(offers("0"));
}

}  // namespace
}  // namespace almanac::failure
