// SPDX-License-Identifier: Apache-2.0
#include "trace/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::trace {
namespace {

using testing::ElementsAre;

/// Jobs 0 .. n-1, one a second, of VCs a and b in turn; each has an attempt.
Trace some(std::uint32_t count) {
  Trace trace;
  for (std::uint32_t i = 0; i < count; ++i) {
    Job job;
    job.id = JobKey{i};
    job.request.submit = Time(std::chrono::seconds(i));
    job.request.gpus = static_cast<std::int32_t>(i % 4);
    job.request.vc = trace.names.intern(i % 2 == 0 ? "a" : "b");
    if (i > 0) job.request.after = JobKey{i - 1};
    trace.jobs.push_back(job);
    Attempt attempt;
    attempt.job = i;
    attempt.first_piece = i;
    trace.attempts.push_back(attempt);
  }
  return trace;
}

std::vector<std::string> ids(const Trace& trace) {
  std::vector<std::string> all;
  for (const Job& job : trace.jobs) all.push_back(trace.id(job.id));
  return all;
}

TEST(SelectJobs, TakesTheAttemptsAlong) {
  Trace trace = some(4);
  const std::vector<std::uint32_t> order{3, 1};
  select_jobs(trace, order);
  EXPECT_THAT(ids(trace), ElementsAre("3", "1"));
  ASSERT_EQ(trace.attempts.size(), 2U);
  EXPECT_EQ(trace.attempts[0].job, 0U);
  EXPECT_EQ(trace.attempts[0].first_piece, 3U);
}

TEST(Sample, KeepsAHalfOpenWindow) {
  Trace trace = some(10);
  ASSERT_TRUE(keep_sample(trace, {.from = Time(3s), .to = Time(6s)}));
  EXPECT_THAT(ids(trace), ElementsAre("3", "4", "5"));
}

TEST(Sample, KeepsVcsAndSizes) {
  Trace trace = some(8);
  ASSERT_TRUE(keep_sample(trace, {.vcs = {"b"}, .min_gpus = 2}));
  EXPECT_THAT(ids(trace), ElementsAre("3", "7"));
}

TEST(Sample, DrawsTheNumberAskedForInOrderAndAlwaysTheSame) {
  Trace trace = some(1000);
  ASSERT_TRUE(keep_sample(trace, {.fraction = 0.25, .seed = 7}));
  EXPECT_EQ(trace.jobs.size(), 250U);
  EXPECT_TRUE(std::is_sorted(trace.jobs.begin(), trace.jobs.end(), [](const Job& a, const Job& b) {
    return a.request.submit < b.request.submit;
  }));
  Trace again = some(1000);
  ASSERT_TRUE(keep_sample(again, {.fraction = 0.25, .seed = 7}));
  EXPECT_EQ(ids(trace), ids(again));
  Trace other = some(1000);
  ASSERT_TRUE(keep_sample(other, {.fraction = 0.25, .seed = 8}));
  EXPECT_NE(ids(trace), ids(other));
}

TEST(Sample, DrawsEachJobWithTheSameChance) {
  std::vector<int> drawn(10);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Trace trace = some(10);
    ASSERT_TRUE(keep_sample(trace, {.count = 3, .seed = seed}));
    for (const Job& job : trace.jobs) ++drawn[static_cast<std::size_t>(job.id)];
  }
  // 600 each; 5 standard deviations are 103.
  for (const int times : drawn) EXPECT_NEAR(times, 600, 103);
}

TEST(Sample, TakesAllWhenThereAreNotMore) {
  Trace trace = some(3);
  ASSERT_TRUE(keep_sample(trace, {.count = 10}));
  EXPECT_EQ(trace.jobs.size(), 3U);
}

TEST(Sample, ForgetsPredecessorsThatAreLeftOut) {
  Trace trace = some(4);
  ASSERT_TRUE(keep_sample(trace, {.from = Time(2s)}));
  EXPECT_EQ(trace.jobs[0].request.after, kNoJobKey);
  EXPECT_EQ(trace.jobs[1].request.after, JobKey{2});
}

TEST(Sample, RefusesNamesThatTheTraceDoesNotHave) {
  Trace trace = some(4);
  const auto kept = keep_sample(trace, {.vcs = {"A"}});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, Code::usage);
  EXPECT_EQ(to_string(kept.error()), "the trace has no virtual cluster \"A\" (did you mean a?)");
}

TEST(Sample, RefusesToBeEmpty) {
  Trace trace = some(4);
  EXPECT_EQ(keep_sample(trace, {.from = Time(1h)}).error().message, "no job is left in the sample");
}

}  // namespace
}  // namespace almanac::trace
