// SPDX-License-Identifier: Apache-2.0

/// \file
/// What one user may ask, and when.
#include "machine/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace almanac::machine {
namespace {

using testing::HasSubstr;

store::Submission job_of(const std::string& user, int tasks = 0) {
  store::Submission asked{.user = user, .uid = ::geteuid() + 1};
  for (int task = 0; task < tasks; ++task) asked.indices.push_back(task);
  return asked;
}

void join(Gate& gate, const std::string& user, int jobs) {
  for (; jobs > 0; --jobs) gate.count({.asked = job_of(user)}, +1);
}

TEST(Gate, RefusesAHundredThousandsOfOneUserUnlessToldOtherwise) {
  Gate gate({});
  EXPECT_TRUE(gate.let_in(job_of("ann", 50'000), 0s));
  const auto large = gate.let_in(job_of("ann", 100'000), 0s);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "never: ann may have 50000 jobs at once, this would be 100000");
  EXPECT_EQ(large.error().code, Code::usage);
  EXPECT_THAT(large.error().hint, HasSubstr("--limits"));
  Gate wide({.jobs = 400'000, .users = {{"ann", {.jobs = 300'000}}}});
  EXPECT_TRUE(wide.let_in(job_of("ann", 100'000), 0s));
  EXPECT_FALSE(wide.let_in(job_of("bob", 100'000), 0s));
}

TEST(Gate, CountsWhatWaitsAndRuns) {
  Gate gate({.jobs = 15, .user = {.jobs = 10}});
  join(gate, "ann", 10);
  const auto full = gate.let_in(job_of("ann"), 0s);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::conflict);
  EXPECT_EQ(full.error().message, "not now: ann has 10 pending and running jobs; the limit is 10");
  EXPECT_TRUE(gate.let_in(job_of("bob", 5), 0s));
  EXPECT_EQ(gate.let_in(job_of("bob", 6), 0s).error().message,
            "not now: 10 jobs of all users are pending or running; the limit is 15");
  gate.count({.asked = job_of("ann")}, -1);
  EXPECT_TRUE(gate.let_in(job_of("ann"), 0s));
}

TEST(Gate, LetsNobodySubmitTooFast) {
  Gate gate({.user = {.submissions_per_minute = 2}});
  EXPECT_TRUE(gate.let_in(job_of("ann"), 100s));
  EXPECT_TRUE(gate.let_in(job_of("ann"), 100s));
  EXPECT_THAT(gate.let_in(job_of("ann"), 100s).error().message, HasSubstr("2 times a minute"));
  EXPECT_TRUE(gate.let_in(job_of("bob"), 100s));
  EXPECT_FALSE(gate.let_in(job_of("ann"), 129s));
  EXPECT_TRUE(gate.let_in(job_of("ann"), 131s));
  store::Submission ours = job_of("me");
  ours.uid = ::geteuid();
  for (int each = 0; each < 5; ++each) EXPECT_TRUE(gate.let_in(ours, 100s));
}

TEST(Gate, BoundsWhatOneJobAsks) {
  Gate gate({.user = {.tasks = 3, .gpus = 4, .time = 2h}});
  store::Submission asked = job_of("ann");
  EXPECT_EQ(gate.time_limit(asked), 2h) << "of one that says none";
  asked.gpus = 5;
  EXPECT_EQ(gate.let_in(asked, 0s).error().message,
            "never: jobs of ann may request 4 GPUs, this one requests 5");
  asked.gpus = 1;
  asked.max_gpus = 5;
  EXPECT_EQ(gate.let_in(asked, 0s).error().message,
            "never: jobs of ann may request 4 GPUs, this one requests 5")
      << "of one that takes 1 to 5";
  asked.max_gpus = 4;
  asked.time_limit = 3h;
  EXPECT_EQ(gate.let_in(asked, 0s).error().code, Code::usage);
  asked.time_limit = 1h;
  EXPECT_TRUE(gate.let_in(asked, 0s));
  EXPECT_EQ(gate.time_limit(asked), 1h);
  EXPECT_EQ(gate.let_in(job_of("ann", 4), 0s).error().message,
            "never: arrays of ann may have 3 tasks, this one has 4");
}

TEST(Limits, AreReadFromAFile) {
  const TemporaryFolder folder;
  const auto limits =
      read_limits(folder.write("limits.toml",
                               "[site]\njobs = 1000\n[user]\njobs = 100\n"
                               "time_h = 1.5\n[users.ann]\ngpus = 2\nprocesses = 99\n"));
  ASSERT_TRUE(limits) << to_string(limits.error());
  EXPECT_EQ(limits->jobs, 1000);
  EXPECT_EQ(limits->of("bob").jobs, 100);
  EXPECT_EQ(limits->of("ann").jobs, 100) << "what it does not say is everybody's";
  EXPECT_EQ(limits->of("ann").gpus, 2);
  EXPECT_EQ(limits->of("ann").time, 90min);
  EXPECT_EQ(limits->of("ann").processes, 99);
  const auto wrong = read_limits(folder.write("wrong.toml", "[user]\njob = 100\n"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where.line, 2);
  EXPECT_FALSE(read_limits(folder.write("users.toml", "users.ann = 3\n")));
  EXPECT_EQ(read_limits(folder / "none").error().code, Code::not_found);
}

}  // namespace
}  // namespace almanac::machine
