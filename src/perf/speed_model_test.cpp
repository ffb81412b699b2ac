// SPDX-License-Identifier: Apache-2.0
#include "perf/speed_model.h"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::perf {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr GpuType kFast{1};
constexpr GpuType kSlow{2};

/// A step of 1 s. Two GPUs of a node wait 0.25 s for each other, each further one 0.125 s more;
/// over two nodes it is 1 s. The slow type computes half as fast. 4 cores feed the fast one, half
/// of the data set the disk at half speed.
SpeedModel by_hand() {
  const StepTime step{
      .fixed = 1, .sample = 0, .local = 0.25, .local_more = 0.125, .remote = 1, .overlap = 1};
  return SpeedModel({{},
                     {.alone = 1, .step = step, .suffers = 0.5, .causes = 2},
                     {.alone = 0.5, .step = step, .suffers = 0.5, .causes = 2}},
                    {.enough_cpus = 4, .power = 1, .disk = 0.25, .dataset_gb = 100});
}

Grant grant(int gpus, double cpus = kNone, double memory_gb = kNone, GpuType type = kFast) {
  return {.gpus = gpus, .cpus = cpus, .memory_gb = memory_gb, .type = type};
}

double rate(std::vector<Grant> reference, std::vector<Grant> now,
            std::vector<const SpeedModel*> beside = {}) {
  const SpeedModel model = by_hand();
  return JobSpeed(model, reference).rate(now, beside);
}

TEST(JobSpeed, OneAtItsReference) {
  EXPECT_EQ(rate({grant(2, 3, 40)}, {grant(2, 3, 40)}), 1);
  EXPECT_EQ(rate({grant(4), grant(4)}, {grant(4), grant(4)}), 1);
}

TEST(JobSpeed, CpusByHand) {
  EXPECT_DOUBLE_EQ(rate({grant(1, 4)}, {grant(1, 1)}), 0.25);
  EXPECT_DOUBLE_EQ(rate({grant(1, 4)}, {grant(1, 8)}), 1);          // the GPU has all that it takes
  EXPECT_DOUBLE_EQ(rate({grant(1, 3)}, {grant(1, 12)}), 4.0 / 3);   // it starved when recorded
  EXPECT_DOUBLE_EQ(rate({grant(2, 8)}, {grant(2, 4)}), 0.5 / 0.8);  // 1/2 fed; synced it takes 0.8
}

TEST(JobSpeed, MemoryByHand) {
  // disk / (1 - 50 / 100) = 1/2.
  EXPECT_DOUBLE_EQ(rate({grant(1, 4, 100)}, {grant(1, 4, 50)}), 0.5);
  EXPECT_DOUBLE_EQ(rate({grant(1, 4, 100)}, {grant(1, 4, 75)}), 1);
}

TEST(JobSpeed, PlacementByHand) {
  EXPECT_DOUBLE_EQ(rate({grant(1)}, {grant(2)}), 2 / 1.25);
  EXPECT_DOUBLE_EQ(rate({grant(1)}, {grant(4)}), 4 / 1.5);
  EXPECT_DOUBLE_EQ(rate({grant(2)}, {grant(1), grant(1)}), 1.25 / 2);
}

TEST(JobSpeed, TheSlowestTypeDecidesUnlessCoresDo) {
  EXPECT_DOUBLE_EQ(rate({grant(2)}, {grant(1), grant(1, kNone, kNone, kSlow)}), 1.25 / 2 / 2);
  EXPECT_DOUBLE_EQ(rate({grant(1, 2)}, {grant(1, 2, kNone, kSlow)}), 1);
}

Grant limited(int gpus, double power, double cpus = kNone) {
  return {.gpus = gpus, .cpus = cpus, .type = kFast, .power = power};
}

TEST(JobSpeed, APowerLimitSlowsWhatComputesAndNothingElse) {
  EXPECT_DOUBLE_EQ(rate({grant(1)}, {limited(1, 0.8)}), 0.8);
  EXPECT_EQ(rate({grant(1)}, {limited(1, 1)}), 1);
  // Two GPUs compute for 1.25 s of a step under the limit, and wait 0.25 s for each other as ever.
  EXPECT_DOUBLE_EQ(rate({grant(2)}, {limited(2, 0.8)}), 1.25 / 1.5);
  EXPECT_DOUBLE_EQ(rate({grant(1), grant(1)}, {grant(1), limited(1, 0.5)}), 2.0 / 3)
      << "the slowest GPU decides";
  EXPECT_EQ(rate({grant(1, 2)}, {limited(1, 0.8, 2)}), 1) << "half as many cores as are enough";
  EXPECT_DOUBLE_EQ(rate({grant(1, 2)}, {limited(1, 0.4, 2)}), 0.8);
}

TEST(JobSpeed, WhatAPowerLimitCostsBesideTheRestIsAPart) {
  const SpeedModel model = by_hand();
  const JobSpeed job(model, std::vector{grant(1, 4)});
  const Parts parts = job.parts(std::vector{limited(1, 0.4, 2)});
  EXPECT_DOUBLE_EQ(parts.cpus, 0.5);
  EXPECT_DOUBLE_EQ(parts.power, 0.8);
  EXPECT_DOUBLE_EQ(parts.rate(), 0.4);
  EXPECT_EQ(parts.computing, 1) << "cores would feed more";
  EXPECT_DOUBLE_EQ(job.rate(2, 1, 0.5), 2.0 / 3);
}

TEST(JobSpeed, TheLeastServedNodeDecides) {
  EXPECT_DOUBLE_EQ(rate({grant(2, 8), grant(2, 8)}, {grant(2, 8), grant(2, 1)}), 0.125 / (1 / 2.0));
}

TEST(JobSpeed, NeighboursByHand) {
  const SpeedModel other = by_hand();
  EXPECT_DOUBLE_EQ(rate({grant(1)}, {grant(1)}, {&other}), 0.5);
  EXPECT_DOUBLE_EQ(rate({grant(1)}, {grant(1)}, {&other, &other}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(rate({grant(1, 1)}, {grant(1, 1)}, {&other}), 1);  // it was waiting for cores
}

TEST(JobSpeed, AModelOfWhichNothingIsKnown) {
  const SpeedModel unknown;
  const JobSpeed job(unknown, std::array{Grant{.gpus = 2}});
  EXPECT_EQ(job.rate(std::array{Grant{.gpus = 2, .cpus = 0.1, .memory_gb = 0.1}}), 1);
  EXPECT_EQ(job.rate(std::array{Grant{.gpus = 1}, Grant{.gpus = 1}}), 1);
  EXPECT_EQ(job.rate(std::array{Grant{.gpus = 4}}), 2);
  const SpeedModel* const other = &unknown;
  EXPECT_EQ(job.rate(std::array{Grant{.gpus = 2}}, {&other, 1}), 0.5);
}

TEST(JobSpeed, PartsByHand) {
  const SpeedModel model = by_hand();
  const JobSpeed job(model, std::array{grant(1, 4, 100)});
  const Parts starved = job.parts(std::array{grant(1, 2, 100)});
  EXPECT_DOUBLE_EQ(starved.cpus, 0.5);
  EXPECT_EQ(starved.gpus * starved.type * starved.neighbours * starved.memory, 1);
  EXPECT_DOUBLE_EQ(starved.computing, 0.5);
  const Parts slow = job.parts(std::array{grant(1, 2, 100, kSlow)});
  EXPECT_DOUBLE_EQ(slow.type, 0.5);
  EXPECT_DOUBLE_EQ(slow.cpus, 1);  // two cores feed half a GPU
  EXPECT_DOUBLE_EQ(slow.computing, 1);
}

rc::Gen<double> between(int least, int most) {
  return rc::gen::map(rc::gen::inRange(16 * least, 16 * most + 1), [](int n) { return n / 16.0; });
}

rc::Gen<Grant> grants() {
  return rc::gen::build<Grant>(rc::gen::set(&Grant::gpus, rc::gen::inRange(1, 9)),
                               rc::gen::set(&Grant::cpus, between(1, 64)),
                               rc::gen::set(&Grant::memory_gb, between(1, 512)),
                               rc::gen::set(&Grant::type, rc::gen::element(kFast, kSlow)));
}

SpeedModel any_model() {
  const auto on = [](double alone) {
    return SpeedModel::OnType{.alone = alone,
                              .step = {.fixed = 1,
                                       .sample = 0,
                                       .local = *between(0, 2),
                                       .local_more = *between(0, 1),
                                       .remote = *between(2, 4),
                                       .remote_more = *between(1, 2),
                                       .remote_spread = *between(0, 1),
                                       .overlap = *between(1, 4)},
                              .suffers = *between(0, 3),
                              .causes = *between(0, 3)};
  };
  return SpeedModel({on(1), on(1), on(0.5)}, {.enough_cpus = *between(1, 16),
                                              .power = *between(0, 1),
                                              .disk = 0.1 + *between(0, 1),
                                              .dataset_gb = *between(1, 256)});
}

RC_GTEST_PROP(JobSpeed, NeverFallsWithMoreCoresOrMemory, ()) {
  const SpeedModel model = any_model();
  const Grant now = *grants();
  const JobSpeed job(model, std::array{*grants()});
  Grant more = now;
  more.cpus += *between(0, 8);
  more.memory_gb += *between(0, 64);
  const double before = job.rate(std::array{now});
  RC_ASSERT(before > 0);
  RC_ASSERT(job.rate(std::array{more}) >= before);
}

RC_GTEST_PROP(JobSpeed, NeighboursAndSpreadSpeedNothingUp, ()) {
  const SpeedModel model = any_model();
  const SpeedModel other = any_model();
  const SpeedModel* const beside = &other;
  const Grant half = *grants();
  Grant whole = half;
  whole.gpus *= 2;
  whole.cpus *= 2;
  whole.memory_gb *= 2;
  const JobSpeed job(model, std::array{whole});
  const std::array one{whole};
  const std::array two{half, half};
  RC_ASSERT(job.rate(one, {&beside, 1}) <= 1);
  RC_ASSERT(job.rate(two) <= 1);
  RC_ASSERT(job.rate(two, {&beside, 1}) <= job.rate(two));
}

RC_GTEST_PROP(JobSpeed, PartsMultiplyToTheRate, ()) {
  const SpeedModel model = any_model();
  const SpeedModel other = any_model();
  const SpeedModel* const beside = &other;
  const JobSpeed job(model, std::array{*grants()});
  const std::array now{*grants(), *grants()};
  const Parts parts = job.parts(now, {&beside, 1});
  const double rate = job.rate(now, {&beside, 1});
  RC_ASSERT(std::abs(parts.rate() - rate) <= 1e-12 * rate);
  RC_ASSERT(parts.computing > 0 && parts.computing <= 1);
}

}  // namespace
}  // namespace almanac::perf
