// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a submission brings along: jobs that it comes after, the shell that it comes from, and how
/// many there are already.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

TEST_F(Box, FollowsDependencies) {
  begin();
  const JobNumber good = submit(shell("sleep 0.1"));
  const JobNumber bad = submit(shell("sleep 0.1; exit 1"));
  const auto after = [&](JobNumber before, std::vector<JobNumber> store::Submission::*how) {
    store::Submission asked = shell("true");
    asked.*how = {before};
    return submit(asked);
  };
  const JobNumber ok = after(good, &store::Submission::after_ok);
  const JobNumber in_vain = after(bad, &store::Submission::after_ok);
  const JobNumber cleans_up = after(bad, &store::Submission::after_not_ok);
  const JobNumber whatever = after(bad, &store::Submission::after);
  EXPECT_TRUE(comes_to(ok, JobState::completed));
  EXPECT_TRUE(comes_to(in_vain, JobState::cancelled));
  EXPECT_TRUE(comes_to(cleans_up, JobState::completed));
  EXPECT_TRUE(comes_to(whatever, JobState::completed));
  EXPECT_GE(look(ok).start, look(good).end);
  EXPECT_EQ(look(in_vain).attempts, 0);
}

TEST_F(Box, FollowsWholeArrays) {
  begin("fifo", 1);
  store::Submission array = shell("sleep 0.1; exit $ALMANAC_ARRAY_TASK_ID");
  for (const std::vector<std::int32_t>& ends : {std::vector{0, 256, 512}, std::vector{0, 1, 256}}) {
    array.indices = ends;  // the exit status is what is left of it
    const JobNumber number = submit(array);
    const auto after = [&](std::vector<JobNumber> store::Submission::*how) {
      store::Submission asked = shell("true");
      asked.*how = {number};
      return submit(asked);
    };
    const bool is_well = ends[1] == 256;
    const JobNumber ok = after(&store::Submission::after_ok);
    const JobNumber not_ok = after(&store::Submission::after_not_ok);
    const JobNumber any = after(&store::Submission::after);
    EXPECT_TRUE(comes_to(ok, is_well ? JobState::completed : JobState::cancelled));
    EXPECT_TRUE(comes_to(not_ok, is_well ? JobState::cancelled : JobState::completed));
    EXPECT_TRUE(comes_to(any, JobState::completed));
    const JobNumber last{static_cast<std::int64_t>(number) + 2};
    EXPECT_GE(look(is_well ? ok : not_ok).start, look(last).end) << "all tasks have ended";
    EXPECT_GE(look(any).start, look(last).end);
  }
}

TEST_F(Box, FollowsSeveralInSeveralWays) {
  begin();
  const JobNumber good = submit(shell("sleep 0.1"));
  const JobNumber bad = submit(shell("sleep 0.2; exit 1"));
  store::Submission asked = shell("true");
  asked.after_ok = {good};
  asked.after_not_ok = {bad};
  const JobNumber both = submit(asked);
  asked.after_not_ok = {submit(shell("true"))};
  const JobNumber in_vain = submit(asked);
  EXPECT_TRUE(comes_to(both, JobState::completed));
  EXPECT_TRUE(comes_to(in_vain, JobState::cancelled));
  EXPECT_GE(look(both).start, look(bad).end);
}

TEST_F(Box, LetsNobodyFillItUp) {
  begin({.state = state(), .machine = made_up(1), .futures = 0, .limits = {.user = {.jobs = 3}}});
  store::Submission held = shell("true");
  held.hold = true;
  store::Submission array = held;
  array.indices = {0, 1, 2};
  const JobNumber first = submit(array);
  const auto refused = service_->submit(held);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not now"), std::string::npos)
      << to_string(refused.error());
  end();
  begin({.state = state(), .machine = made_up(1), .futures = 0, .limits = {.user = {.jobs = 3}}});
  EXPECT_FALSE(service_->submit(held)) << "a later service counts what it takes over";
  ASSERT_TRUE(service_->cancel({first}, me_, false));
  ASSERT_TRUE(comes_to(first, JobState::cancelled));
  EXPECT_TRUE(eventually([&] {
    const auto made = service_->submit(held);
    return made && made->front() == JobNumber{4};
  })) << "refused ones have no number";
}

TEST_F(Box, KeepsTheUmaskAndTheLimitsOfItsSubmitter) {
  begin();
  store::Submission asked = shell("umask; ulimit -n; ulimit -c; touch made");
  asked.out = "log";
  asked.umask = 077;
  asked.resource_limits = {"nofile=77", "core=0"};
  ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  EXPECT_EQ(text("log"), "0077\n77\n0\n");
  for (const std::string name : {"log", "made"}) {
    EXPECT_EQ(std::filesystem::status(folder_ / "work" / name).permissions() &
                  (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none)
        << name;
  }
  asked.resource_limits = {"nofile=many"};
  EXPECT_FALSE(service_->submit(asked));
}

TEST_F(Box, TellsScriptsOfSlurmWhatSlurmWould) {
  begin();
  const std::string lines =
      "env | grep -o '^SLURM_\\(JOB_ID\\|ARRAY_[A-Z_]*\\|JOB_NAME\\)=.*' | sort";
  store::Submission asked = shell("");
  asked.argv = {};
  asked.script = "#!/bin/sh\n#SBATCH --array=3-4\n" + lines;
  asked.environment.emplace_back("SLURM_ARRAY_TASK_COUNT=99");  // of a job that submitted it
  asked.indices = {3, 4};
  asked.out = "log.%a";
  const JobNumber first = submit(asked);
  const JobNumber second{static_cast<std::int64_t>(first) + 1};
  ASSERT_TRUE(comes_to(first, JobState::completed));
  ASSERT_TRUE(comes_to(second, JobState::completed));
  EXPECT_EQ(text("log.3"),
            "SLURM_ARRAY_JOB_ID=1\nSLURM_ARRAY_TASK_ID=3\nSLURM_JOB_ID=1\nSLURM_JOB_NAME=test\n");
  EXPECT_EQ(text("log.4"),
            "SLURM_ARRAY_JOB_ID=1\nSLURM_ARRAY_TASK_ID=4\nSLURM_JOB_ID=2\nSLURM_JOB_NAME=test\n");
  asked.script = "#!/bin/sh\n" + lines + " || true";
  asked.indices = {};
  asked.environment.pop_back();
  asked.out = "own";
  ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  EXPECT_EQ(text("own"), "") << "there is no Slurm";
}

TEST_F(Box, RunsSrunOfScriptsOfSlurmOnTheJobsGpus) {
  begin("fifo", 4);
  store::Submission asked = shell("", 3);
  asked.argv = {};
  asked.script =
      "#!/bin/sh\n#SBATCH -n 3\n"
      "srun -n 3 --gpus-per-task=1 sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS on "
      "$CUDA_VISIBLE_DEVICES >> tasks'\n"
      "srun sh -c 'echo all $CUDA_VISIBLE_DEVICES > whole; exit 3'\n"
      "echo came to $? >> whole\n"
      "srun -N 2 true\n";
  asked.out = "log";
  ASSERT_TRUE(comes_to(submit(asked), JobState::failed));
  std::istringstream lines(text("tasks"));
  std::multiset<std::string> tasks;
  for (std::string line; std::getline(lines, line);) tasks.insert(line);
  EXPECT_EQ(tasks, (std::multiset<std::string>{"0 of 3 on 0", "1 of 3 on 1", "2 of 3 on 2"}));
  EXPECT_EQ(text("whole"), "all 0,1,2\ncame to 3\n");
  EXPECT_NE(text("log").find("srun: error: --nodes=2: this job has one node"), std::string::npos);
}

TEST_F(Box, StepsThatRunAtOnceShareNoGpu) {
  begin("fifo", 2);
  store::Submission asked = shell("", 2);
  asked.argv = {};
  // Each holds its GPU until it has seen the other, or for ever: a third waits for one of them.
  asked.script =
      "#!/bin/sh\n#SBATCH -n 1\n"
      "step() { srun --gpus=1 sh -c \"echo \\$CUDA_VISIBLE_DEVICES > gpu.$1; "
      "while [ ! -s gpu.$2 ]; do sleep 0.02; done\"; }\n"
      "step 1 2 & step 2 1 & wait\n"
      "srun --gpus=2 sh -c 'echo $CUDA_VISIBLE_DEVICES > both'\n";
  ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  EXPECT_EQ((std::set<std::string>{text("gpu.1"), text("gpu.2")}),
            (std::set<std::string>{"0\n", "1\n"}));
  EXPECT_EQ(text("both"), "0,1\n");
}

TEST_F(Box, FollowsTheStartOfOthers) {
  begin("fifo", 2);
  const JobNumber runs = submit(shell("while [ ! -e go ]; do sleep 0.02; done"));
  store::Submission asked = shell("echo has begun > after");
  asked.after_start = {runs};
  ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  EXPECT_EQ(look(runs).state, JobState::running);
  store::Submission held = shell("true");
  held.hold = true;
  const JobNumber waits = submit(held);
  asked.after_start = {waits};
  const JobNumber follows = submit(asked);
  EXPECT_EQ(look(follows).state, JobState::pending);
  ASSERT_TRUE(service_->cancel({waits}, me_, false));
  EXPECT_TRUE(comes_to(follows, JobState::completed)) << "it will never start";
  std::ofstream(folder_ / "work" / "go") << "1";
  EXPECT_TRUE(comes_to(runs, JobState::completed));
}

TEST_F(Box, FollowsAnyOfSeveral) {
  begin();
  const JobNumber good = submit(shell("sleep 0.1"));
  const JobNumber bad = submit(shell("sleep 0.1; exit 1"));
  store::Submission asked = shell("true");
  asked.after_one = true;
  asked.after_ok = {bad};
  const JobNumber in_vain = submit(asked);
  asked.after_ok = {bad, good};
  const JobNumber one = submit(asked);
  EXPECT_TRUE(comes_to(one, JobState::completed));
  EXPECT_TRUE(comes_to(in_vain, JobState::cancelled));
}

TEST_F(Box, RunsSingletonsOneAfterTheOther) {
  begin("fifo", 4);
  store::Submission asked = shell("date +%s.%N > began.$ALMANAC_JOB_ID; sleep 0.1");
  asked.name = "nightly";
  const JobNumber before = submit(asked);
  asked.singleton = true;
  const JobNumber first = submit(asked);
  const JobNumber second = submit(asked);
  asked.name = "other";
  const JobNumber other = submit(asked);
  EXPECT_TRUE(comes_to(second, JobState::completed));
  EXPECT_TRUE(comes_to(other, JobState::completed));
  EXPECT_GE(look(first).start, look(before).end);
  EXPECT_GE(look(second).start, look(first).end);
}

}  // namespace
}  // namespace almanac::machine
