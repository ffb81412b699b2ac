// SPDX-License-Identifier: Apache-2.0
#include "slurm/task_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::slurm {
namespace {

using testing::ElementsAre;

RunCommand saying(Printed printed, std::vector<std::string>* asked = nullptr) {
  return [printed = std::move(printed), asked](const std::vector<std::string>& argv, Duration) {
    if (asked != nullptr) *asked = argv;
    return Result<Printed>(printed);
  };
}

TEST(TaskArray, IsSubmittedWithOurWordsLast) {
  std::vector<std::string> asked;
  const TaskArray array{.name = "study",
                        .tasks = {1, 3, 4},
                        .script = "exec it",
                        .err = "out/%a.err",
                        .cores = 2,
                        .options = {"--array=9", "--partition=cpu"}};
  EXPECT_EQ(submit(array, saying({.out = "71;east\n"}, &asked)).value(), JobNumber{71});
  EXPECT_THAT(asked, ElementsAre("sbatch", "--job-name=study", "--cpus-per-task=2", "--array=9",
                                 "--partition=cpu", "--parsable", "--array=1,3,4",
                                 "--output=/dev/null", "--error=out/%a.err", "--wrap=exec it"));
}

TEST(TaskArray, SaysWhatSlurmSaysToARefusal) {
  const Printed refusal{.err = "sbatch: error: ask science\nsbatch: error: Invalid account\n",
                        .status = 1};
  EXPECT_EQ(submit({}, saying(refusal)).error().message,
            "sbatch: error: ask science sbatch: error: Invalid account");
  EXPECT_EQ(submit({}, saying({.out = "Submitted!\n"})).error().code, Code::invalid);
}

TEST(TaskArray, TellsHowItsTasksStand) {
  const auto tasks = tasks_of(JobNumber{71}, saying({.out = "3 PENDING Resources\n"
                                                            "1 OUT_OF_MEMORY None\n"
                                                            "4 COMPLETING None\n"
                                                            "2 RUNNING None\n"}))
                         .value();
  ASSERT_EQ(tasks.size(), 4U);
  EXPECT_EQ(tasks.at(1).state, State::ended);
  EXPECT_EQ(tasks.at(1).word, "OUT_OF_MEMORY");
  EXPECT_EQ(tasks.at(2).state, State::running);
  EXPECT_EQ(tasks.at(3).state, State::pending);
  EXPECT_EQ(tasks.at(3).reason, "Resources");
  EXPECT_EQ(tasks.at(4).state, State::completing);
}

TEST(TaskArray, IsNoneWhenForgottenAndAnErrorWhenNobodyAnswers) {
  const Printed forgotten{.err = "slurm_load_jobs error: Invalid job id specified\n", .status = 1};
  EXPECT_TRUE(tasks_of(JobNumber{71}, saying(forgotten)).value().empty());
  const Printed silent{.err = "slurm_load_jobs error: Unable to contact slurm controller\n",
                       .status = 1};
  EXPECT_EQ(tasks_of(JobNumber{71}, saying(silent)).error().code, Code::unavailable);
  EXPECT_EQ(tasks_of(JobNumber{71}, saying({.out = "1 LOST_IN_SPACE None\n"})).error().code,
            Code::invalid);
}

}  // namespace
}  // namespace almanac::slurm
