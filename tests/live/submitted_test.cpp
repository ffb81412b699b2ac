// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a submission brings along: jobs that it comes after, the shell that it comes from, and how
/// many there are already.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::live {
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
  asked.after_not_ok = {good};
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

}  // namespace
}  // namespace almanac::live
