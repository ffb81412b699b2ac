// SPDX-License-Identifier: Apache-2.0
#include "sim/courses.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::sim {
namespace {

/// 100 steps of 8 samples, of 1/8 s on a GPU, in two epochs. In the second a step of twice the
/// batch brings it (1 + 1) / (1/2 + 1) = 4/3 as far.
elastic::Applications noisy() {
  elastic::Application made{.name = "noisy",
                            .initial_batch = 8,
                            .max_batch = 16,
                            .min_local_batch = 1,
                            .max_local_batch = 8,
                            .completion_epoch = 1};
  made.steps.otherwise({.compute_per_sample = 0.125});
  for (const int batch : {8, 16}) {
    made.validated[batch] = {{.progress = 50, .iteration = 50, .gradient = {.sqr = 1, .var = 0}},
                             {.progress = 100, .iteration = 100, .gradient = {.sqr = 1, .var = 1}}};
  }
  return {{"noisy", made}};
}

class CoursesTest : public testing::Test {
 protected:
  CoursesTest() {
    cluster_.add_vc("all");
    cluster_.add_nodes({.gpus = 4}, 2);
    trace_.jobs.resize(1);
    trace_.jobs[0].request.gpus = 1;
    trace_.jobs[0].request.model = trace_.names.intern("noisy");
    trace_.jobs[0].outcome.run = 200s;  // twice as long as the application
  }
  policy::Training told(const Courses& courses) const { return *courses.training(kJob, 0); }

  static constexpr JobId kJob{0};
  const std::vector<cluster::Grant> two_{{.node = NodeId{0}, .gpus = 0b11}};
  cluster::Cluster cluster_;
  trace::Trace trace_;
  elastic::Applications applications_ = noisy();
};

TEST_F(CoursesTest, GoesAsFastAsItsBatchAndItsNoiseAllow) {
  Courses courses(cluster_, trace_, &applications_);
  courses.hold(kJob, two_, {.batch = 16}, 200'000, 0);
  // Two GPUs make 16 samples a second; without noise that is as good as eight.
  EXPECT_NEAR(courses.rate(kJob), 1, 1e-6);
  courses.advance(kJob, 100'000);
  courses.pass(kJob);
  EXPECT_NEAR(courses.rate(kJob), 4.0 / 3, 1e-6);
  courses.hold(kJob, two_, {.batch = 0}, 200'000, 100'000);
  EXPECT_NEAR(courses.rate(kJob), 2, 1e-6);
}

TEST_F(CoursesTest, TellsWhatItHasMeasuredAndNothingBefore) {
  Courses courses(cluster_, trace_, &applications_);
  EXPECT_NEAR(told(courses).total, 200, 1e-5);
  EXPECT_EQ(told(courses).batches.max_batch, 16);
  courses.hold(kJob, two_, {.batch = 8}, 200'000, 0);
  EXPECT_TRUE(told(courses).seen.empty());
  EXPECT_NEAR(courses.until_next(kJob), 60'000, 1);  // 30 s at twice the speed
  courses.advance(kJob, 60'000);
  EXPECT_TRUE(std::isnan(*courses.pass(kJob)));
  ASSERT_EQ(told(courses).seen.size(), 1U);
  EXPECT_EQ(told(courses).seen[0].atomic_batch, 4);
  EXPECT_NEAR(told(courses).seen[0].time.step_s, 0.5, 1e-6);
  EXPECT_NEAR(told(courses).progress, 60, 1e-6);
  EXPECT_EQ(told(courses).gradient->var, 0);
  // The same again is no news: the end of the epoch is the next.
  courses.hold(kJob, two_, {.batch = 8}, 200'000, 60'000);
  EXPECT_NEAR(courses.until_next(kJob), 40'000, 1);
}

TEST_F(CoursesTest, WhatRestartsAddIsDoneFirstAndTakesItsTime) {
  Courses courses(cluster_, trace_, &applications_);
  courses.hold(kJob, two_, {.batch = 8}, 230'000, 0);
  EXPECT_EQ(courses.rate(kJob), 1);
  EXPECT_EQ(courses.until_next(kJob), 30'000);
  courses.advance(kJob, 30'000);
  EXPECT_FALSE(courses.pass(kJob));
  EXPECT_EQ(told(courses).progress, 0);
  EXPECT_NEAR(courses.rate(kJob), 2, 1e-6);
}

TEST_F(CoursesTest, AMetricIsToldWhereItsStepsAreMade) {
  trace_.jobs[0].request.model = kNoName;
  trace_.jobs[0].request.steps = 50;
  trace_.jobs[0].outcome.metric = trace_.names.intern("10:0.5|25:0.75|50:1");
  Courses courses(cluster_, trace_, nullptr);
  courses.hold(kJob, two_, {.batch = 0}, 200'000, 0);
  EXPECT_FALSE(courses.paces(kJob));
  EXPECT_NEAR(courses.until_next(kJob), 40'000, 1e-6);
  courses.advance(kJob, 40'000);
  EXPECT_EQ(courses.pass(kJob), 0.5);
  EXPECT_EQ(told(courses).metric_at, 10);
  courses.advance(kJob, 60'000);
  EXPECT_EQ(courses.pass(kJob), 0.75);
  // It ends with its last steps, and tells nothing.
  EXPECT_TRUE(std::isinf(courses.until_next(kJob)));
}

TEST_F(CoursesTest, JobsThatTellNothingHaveNone) {
  trace_.jobs[0].request.model = kNoName;
  const Courses courses(cluster_, trace_, &applications_);
  EXPECT_TRUE(courses.empty());
  EXPECT_FALSE(courses.training(kJob, 0));
}

}  // namespace
}  // namespace almanac::sim
