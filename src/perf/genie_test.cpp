// SPDX-License-Identifier: Apache-2.0
#include "perf/genie.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perf/speed_model.h"

namespace almanac::perf {
namespace {

// Figure 10 of the paper: 4 nodes of 4 GPUs, theta 0.4.
TEST(Genie, CostsWhatThePaperPrints) {
  struct {
    double nodes, gpus, cost;
  } const kPrinted[] = {{1, 1, .1625}, {1, 2, .225}, {1, 4, .35}, {2, 1, .325}, {2, 2, .45},
                        {2, 4, .70},   {4, 1, .65},  {4, 2, .90}, {4, 4, 1.40}};
  for (const auto& [nodes, gpus, printed] : kPrinted) {
    EXPECT_NEAR(cost({nodes, gpus}, 4, 4), printed, 1e-9) << nodes << "N" << gpus << "G";
  }
}

TEST(BatchCurve, IsWhatItsFormSays) {
  EXPECT_DOUBLE_EQ(BatchCurve(Saturating{40, 3})(1), 10);
  EXPECT_DOUBLE_EQ(BatchCurve(Quadratic{{1, 2, 3}})(2), 1 + 2 * 2 + 3 * 4);
  EXPECT_DOUBLE_EQ(BatchCurve(QuadraticLog{{1, 2, 3}})(8), 1 + 2 * 3 + 3 * 9);
  const BatchCurve table(RateTable{{2, 8}, {10, 30}});
  EXPECT_DOUBLE_EQ(table(1), 5);
  EXPECT_DOUBLE_EQ(table(2), 10);
  EXPECT_DOUBLE_EQ(table(4), 20);
  EXPECT_DOUBLE_EQ(table(8), 30);
  EXPECT_DOUBLE_EQ(table(64), 30);
}

TEST(BatchCurve, IsAboveZeroWhereAParabolaIsNot) {
  EXPECT_GT(BatchCurve(Quadratic{{-5, 1, 0}})(1), 0);
}

constexpr double kGamma = 0.5;
constexpr double kLambda = 0.8;

/// Each GPU does 10 samples a second whatever its batch.
GenieRate flat(Comm::Form form) { return {Saturating{10, 0}, {form, kGamma, kLambda}}; }

TEST(Comm, LosesGpusAsEachFormSays) {
  // Two nodes of four: (2-1)*4 + 0.8*(4-1) = 6.4 peers, half of which are lost.
  EXPECT_DOUBLE_EQ(flat(Comm::Form::nodiv)(64, {2, 4}), (8 - 3.2) * 10);
  EXPECT_DOUBLE_EQ(flat(Comm::Form::printed)(64, {2, 4}), (8 - 3.2 / 7) * 10);
  // A step of 8 samples takes 0.8 s, and then 0.5 * (1 + 0.8 * 3) s pass.
  EXPECT_DOUBLE_EQ(flat(Comm::Form::sync)(64, {2, 4}), 64 / (0.8 + 1.7));
}

TEST(Comm, IsNothingOnOneGpu) {
  for (const auto form : {Comm::Form::nodiv, Comm::Form::printed, Comm::Form::sync}) {
    EXPECT_DOUBLE_EQ(flat(form)(64, {1, 1}), 10);
  }
}

TEST(Comm, LeavesALittleHoweverMuchIsLost) {
  const GenieRate rate{Saturating{10, 0}, {Comm::Form::nodiv, 5, 1}};
  EXPECT_DOUBLE_EQ(rate(64, {4, 4}), 0.05 * 10);
}

TEST(Genie, TakesItsStartupAndItsSteps) {
  const GenieRate rate = flat(Comm::Form::nodiv);
  const GenieTask task{.rate = &rate, .batch = 64, .steps = 100, .startup_s = 30};
  EXPECT_DOUBLE_EQ(task.latency_s({1, 1}), 64 * 100 / 10.0 + 30);
  EXPECT_DOUBLE_EQ(task.latency_s({1, 2}), 64 * 100 / (10 * (2 - kGamma * kLambda)) + 30);
}

TEST(JobSpeed, OfATaskIsItsLatencyAtTheReferenceByThatOnWhatItHolds) {
  const GenieRate rate = flat(Comm::Form::nodiv);
  const GenieTask task{.rate = &rate, .batch = 64, .steps = 100, .startup_s = 30};
  const SpeedModel model;
  const Grant reference[] = {{.gpus = 1}};
  const JobSpeed speed(model, reference, task);
  const Grant held[] = {{.gpus = 4}, {.gpus = 4}};
  const double wanted = task.latency_s({1, 1}) / task.latency_s({2, 4});
  EXPECT_DOUBLE_EQ(speed.rate(held), wanted);
  EXPECT_DOUBLE_EQ(speed.rate(2, 4), wanted);
  EXPECT_DOUBLE_EQ(speed.parts(held).rate(), wanted);
  EXPECT_DOUBLE_EQ(speed.rate(1, 1), 1);
  const Grant uneven[] = {{.gpus = 5}, {.gpus = 3}};
  EXPECT_DOUBLE_EQ(speed.rate(uneven), wanted);
}

TEST(JobSpeed, OnAShapeIsThatOfItsGrantsForOtherModelsToo) {
  SpeedModel::OnType type;
  type.step = {.fixed = 1, .sample = 0, .local = 0.2, .remote = 0.5};
  const SpeedModel model({type}, InputCurve{.enough_cpus = 4, .power = 0.5, .disk = 1});
  const Grant reference[] = {{.gpus = 2, .cpus = 4}};
  const JobSpeed speed(model, reference);
  const Grant held[] = {{.gpus = 2, .cpus = 4}, {.gpus = 2, .cpus = 4}};
  EXPECT_DOUBLE_EQ(speed.rate(2, 2), speed.rate(held));
}

RC_GTEST_PROP(GenieProperty, InferenceNeverGetsSlowerWithMoreGpus, ()) {
  const GenieRate rate{
      Saturating{*rc::gen::inRange(1, 1000) / 10.0, *rc::gen::inRange(0, 1000) / 10.0}, {}};
  const int batch = *rc::gen::inRange(2, 4096);
  const int gpus = *rc::gen::inRange(1, 64);
  RC_ASSERT(rate(batch, {1.0, gpus + 1.0}) >= rate(batch, {1.0, double(gpus)}) * (1 - 1e-12));
}

}  // namespace
}  // namespace almanac::perf
