// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/goodput.h"

#include <gtest/gtest.h>

#include "rules/elastic/step_fit.h"

namespace almanac::elastic {
namespace {

Application limits() {
  return {.name = "small",
          .initial_batch = 16,
          .max_batch = 256,
          .min_local_batch = 4,
          .max_local_batch = 32};
}

TEST(Split, ABatchThatDoesNotFitIsAccumulated) {
  EXPECT_EQ(split_batch(limits(), 4, 64), (Split{.atomic_batch = 16, .accumulations = 0}));
  EXPECT_EQ(split_batch(limits(), 2, 130), (Split{.atomic_batch = 22, .accumulations = 2}));
}

TEST(Split, OneGpuAccumulatesBeyondTheInitialBatch) {
  EXPECT_EQ(split_batch(limits(), 1, 16), (Split{.atomic_batch = 16, .accumulations = 0}));
  EXPECT_EQ(split_batch(limits(), 1, 20), (Split{.atomic_batch = 10, .accumulations = 1}));
  EXPECT_EQ(split_batch(limits(), 1, 16, OneGpu::always_accumulates),
            (Split{.atomic_batch = 8, .accumulations = 1}));
}

TEST(Split, NeverExceedsTheLargestBatch) {
  // 3 x 3 x 29 = 261 samples are more than 256.
  EXPECT_EQ(within_max_batch(limits(), 3, {.atomic_batch = 29, .accumulations = 2}),
            (Split{.atomic_batch = 28, .accumulations = 2}));
}

const StepModel kModel{.compute = 0.1,
                       .compute_per_sample = 0.02,
                       .across = 0.2,
                       .across_per_gpu = 0.01,
                       .within = 0.05,
                       .within_per_gpu = 0.005,
                       .overlap = 1};

TEST(StepModel, AddsPassAndExchangeWhereNothingOverlaps) {
  EXPECT_NEAR(kModel.step_s(1, 4, 10), 0.3 + 0.05 + 2 * 0.005, 1e-12);
  EXPECT_NEAR(kModel.step_s(2, 6, 10), 0.3 + 0.2 + 4 * 0.01, 1e-12);
  EXPECT_NEAR(kModel.step_s(1, 1, 10), 0.3, 1e-7);
}

TEST(Goodput, NoisyGradientsWantTheLargestBatchAndOthersTheSmallest) {
  const Goodput noisy = best_goodput(kModel, {.sqr = 1e-9, .var = 1}, limits(), 1, 4);
  EXPECT_EQ(4 * noisy.split.local_batch(), 256);
  const Goodput quiet = best_goodput(kModel, {.sqr = 1, .var = 1e-9}, limits(), 1, 4);
  EXPECT_EQ(4 * quiet.split.local_batch(), 16);
  // Without noise a step is worth a step at the initial batch, whatever its batch.
  EXPECT_NEAR(quiet.value, 16 / kModel.step_s(1, 4, 4), 1e-6);
}

TEST(FitSteps, FindsTheModelThatMadeTheTimes) {
  std::vector<Observation> seen;
  for (const auto& [nodes, gpus] : {std::pair{1, 1}, {1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 16}}) {
    for (const int batch : {4, 16, 32}) {
      const double step_s = kModel.step_s(nodes, gpus, batch);
      seen.push_back({.nodes = nodes,
                      .gpus = gpus,
                      .atomic_batch = batch,
                      .time = {.step_s = step_s, .sync_s = step_s - kModel.pass_s(batch)}});
    }
  }
  const StepModel found = fit_steps(seen);
  for (const Observation& each : seen) {
    EXPECT_NEAR(found.step_s(each.nodes, each.gpus, each.atomic_batch) / each.time.step_s, 1, 0.01);
  }
  EXPECT_LE(fit_objective(found, seen), fit_objective(kModel, seen) * 1.01);
}

TEST(FitSteps, IsOptimisticOfWhatItHasNotSeen) {
  const std::vector<Observation> seen{
      {.nodes = 1, .gpus = 1, .atomic_batch = 16, .time = {.step_s = 0.4, .sync_s = 0.0001}}};
  const StepModel found = fit_steps(seen);
  EXPECT_NEAR(found.compute, 0.2, 1e-3) << "half of the pass is its batch";
  EXPECT_NEAR(found.pass_s(16), 0.4, 1e-3);
  EXPECT_LT(found.exchange_s(4, 16), 1e-6) << "exchanges cost nothing";
}

TEST(FitSteps, NodesExchangeNoFasterThanOneOfThemInside) {
  const std::vector<Observation> seen{
      {.nodes = 1, .gpus = 1, .atomic_batch = 16, .time = {.step_s = 0.4, .sync_s = 0.0001}},
      {.nodes = 1, .gpus = 2, .atomic_batch = 16, .time = {.step_s = 0.6, .sync_s = 0.2}}};
  const StepModel found = fit_steps(seen);
  EXPECT_GT(found.within, 0.1);
  EXPECT_DOUBLE_EQ(found.across, 1.1 * found.within);
}

}  // namespace
}  // namespace almanac::elastic
