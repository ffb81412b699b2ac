// SPDX-License-Identifier: Apache-2.0
#include "sim/pace_log.h"

#include <gtest/gtest.h>

#include "perf/catalogue_file.h"
#include "schedule/speed_book.h"

namespace almanac::sim {
namespace {

cluster::Cluster one_node() {
  cluster::Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  made.add_nodes({.gpus = 8, .cpus = 64}, 1);
  return made;
}

/// Two CPU jobs that request four cores, and a GPU job.
trace::Trace three_jobs() {
  trace::Trace trace;
  trace.jobs.resize(3);
  trace.jobs[0].request.cpus = trace.jobs[1].request.cpus = 4;
  trace.jobs[2].request.gpus = 2;
  trace.jobs[2].request.cpus = 8;
  trace.jobs[2].request.model = trace.names.intern("alexnet");
  return trace;
}

class PaceLogTest : public testing::Test {
 protected:
  void open(std::uint32_t job, int cores, double done_s, Time now) {
    const bool has_gpus = trace_.jobs[job].request.gpus > 0;
    const cluster::Grant held[] = {
        {.node = {}, .gpus = has_gpus ? 3ULL : 0ULL, .cpu_milli = 1000 * cores}};
    const policy::Pace pace = speeds_.pace(JobId{job}, held);
    const perf::Parts parts =
        has_gpus ? speeds_.parts(JobId{job}, held) : perf::Parts{.cpus = pace.rate, .computing = 0};
    log_.open(JobId{job}, held, parts, pace, 1e3 * done_s, now);
  }
  void close(std::uint32_t job, double done_s, Time now) {
    log_.close(JobId{job}, 1e3 * done_s, now);
  }

  cluster::Cluster cluster_ = one_node();
  trace::Trace trace_ = three_jobs();
  schedule::SpeedBook speeds_{cluster_, trace_, *perf::read_catalogue("public")};
  PaceLog log_{trace_};
};

TEST_F(PaceLogTest, CountsWhatWasCutOfACpuJob) {
  // 10 s with all four cores, 30 s with one; stopped; 10 s with all.
  open(0, 4, 0, Time{});
  close(0, 10, Time{10s});
  open(0, 1, 10, Time{10s});
  close(0, 17.5, Time{40s});
  open(0, 4, 17.5, Time{100s});
  close(0, 27.5, Time{110s});
  const MeanPace mean = log_[0];
  EXPECT_DOUBLE_EQ(mean.ran_s, 50);
  EXPECT_DOUBLE_EQ(mean.rate, 27.5 / 50);
  EXPECT_NEAR(mean.parts.cpus, 27.5 / 50, 1e-6);
  EXPECT_NEAR(mean.bandwidth, 1, 1e-6);
  EXPECT_NEAR(mean.cpus, (20 * 4 + 30 * 1) / 50.0, 1e-6);
  EXPECT_DOUBLE_EQ(mean.throttled_s, 30);
  EXPECT_DOUBLE_EQ(mean.cut_cpu_s, 90);
  EXPECT_EQ(in_words(mean), "ran at 0.55: cores 0.55");
}

TEST_F(PaceLogTest, TellsBandwidthFromCores) {
  // Two of four cores; half of the 20 s a node is overdrawn and halves the speed.
  open(1, 2, 0, Time{});
  close(1, 2.5 + 5, Time{20s});
  const MeanPace mean = log_[1];
  EXPECT_DOUBLE_EQ(mean.rate, 0.375);
  EXPECT_NEAR(mean.parts.cpus, 0.5, 1e-6);
  EXPECT_NEAR(mean.bandwidth, 0.75, 1e-6);
}

TEST_F(PaceLogTest, MultipliesToTheRateOfAJobThatWasResized) {
  const auto rate = [&](int cores) {
    const cluster::Grant held[] = {{.node = {}, .gpus = 3, .cpu_milli = 1000 * cores}};
    return speeds_.rate(JobId{2}, held);
  };
  ASSERT_LT(rate(2), rate(8));
  const double first = 100 * rate(2);
  const double all = first + 50 * rate(8) * 0.8;
  open(2, 2, 0, Time{});
  close(2, first, Time{100s});
  open(2, 8, first, Time{100s});
  close(2, all, Time{150s});
  const MeanPace mean = log_[2];
  EXPECT_DOUBLE_EQ(mean.rate, all / 150);
  EXPECT_NEAR(mean.parts.rate() * mean.bandwidth, mean.rate, 1e-6);
  EXPECT_NEAR(mean.cpus, 4, 1e-6);
  EXPECT_EQ(mean.throttled_s, 0) << "a GPU job is slimmed, not throttled";
  EXPECT_GT(mean.parts.computing, 0);
  EXPECT_LE(mean.parts.computing, 1);
}

TEST_F(PaceLogTest, SaysNothingOfAJobThatNeverRan) {
  EXPECT_EQ(log_[0].ran_s, 0);
  EXPECT_TRUE(PaceLog().empty());
}

}  // namespace
}  // namespace almanac::sim
