// SPDX-License-Identifier: Apache-2.0
#include "profiling/survey.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.h"
#include "perf/optimistic.h"
#include "profiling/findings.h"

namespace almanac::profiling {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A job whose speed is known: fed by `cpus / need`, a step of `fixed + sample x batch of a GPU`,
/// and as much again as `sync` says with more GPUs.
struct Known {
  double need = 4;
  double power = 1;
  double fixed_s = 0.03;
  double sample_s = 0.001;
  double sync_s = 0;
  double most_batch = 1e9;  ///< Of a GPU.
  double noise = 0;         ///< Relative.
  Rng rng{1};

  double throughput(const Condition& at) {
    const double batch = at.batch / at.gpus;
    if (batch > most_batch) return 0;
    const double step_s = fixed_s + sample_s * batch + (at.gpus > 1 ? sync_s : 0);
    const double fed = std::pow(at.cpus / (need * at.gpus), power);
    const double beside = at.beside ? 0.6 : 1;
    const double by_memory = at.memory_gb > 0 && at.memory_gb < 16 ? 0.5 : 1;
    return at.batch / step_s * std::min({1.0, fed, by_memory}) * beside *
           (1 + noise * rng.normal());
  }
  Measure measure() {
    return [this](const Condition& at) -> Result<Measured> {
      const double found = throughput(at);
      Measured made{
          .condition = at, .throughput = found, .low = 0.99 * found, .high = 1.01 * found};
      if (found == 0) made.said = "out of memory";
      return made;
    };
  }
};

std::vector<int> cpus_of(const Survey& made) {
  std::vector<int> cpus;
  for (const Measured& run : made.runs) cpus.push_back(run.condition.cpus);
  return cpus;
}

TEST(SurveyTest, FindsTheCoresThatAreEnoughInFewRuns) {
  Known job{.need = 4};
  const Survey made = survey({.most_cpus = 16}, job.measure());
  EXPECT_EQ(made.enough_cpus, 4);
  // Halves while nothing changes, three is the knee's other side, one to see that it is in
  // proportion.
  EXPECT_THAT(cpus_of(made), ElementsAre(16, 8, 4, 2, 3, 1));
}

TEST(SurveyTest, NeedsFewerRunsThanGoingDownByOne) {
  for (const double need : {1.0, 3.0, 7.0, 12.0, 20.0, 33.0, 48.0}) {
    Known job{.need = need};
    const Survey made = survey({.most_cpus = 64}, job.measure());
    EXPECT_EQ(made.enough_cpus, need);
    int by_one = 0;
    const perf::OptimisticProfile synergy(64, 1, [&](double cpus) {
      ++by_one;
      return 1 / job.throughput({.cpus = static_cast<int>(cpus)});
    });
    EXPECT_LE(made.runs.size(), 12) << need;
    if (need >= 12) {
      EXPECT_LT(static_cast<int>(made.runs.size()), by_one) << need;
    }
  }
}

RC_GTEST_PROP(SurveyTest, FindsAnyNeedUnderNoise, ()) {
  // One core more or less must show: at 16 cores it makes 6 %, well above 2 %.
  Known job{.need = static_cast<double>(*rc::gen::inRange(1, 17)), .noise = 0.003};
  job.rng = Rng(*rc::gen::arbitrary<std::uint64_t>());
  const int most = *rc::gen::inRange(16, 129);
  const Survey made = survey({.most_cpus = most}, job.measure());
  RC_ASSERT(made.enough_cpus == static_cast<int>(job.need));
  RC_ASSERT(made.runs.size() <= 14);
}

TEST(SurveyTest, AJobThatWantsMoreThanThereIs) {
  Known job{.need = 20};
  const Findings found = findings_of(survey({.most_cpus = 8}, job.measure()));
  EXPECT_EQ(found.cores, 8);
  EXPECT_TRUE(found.wants_more_cores);
  EXPECT_THAT(sentences(found),
              ElementsAre("needs 8 cores per GPU, and may need more: it used all available cores"));
}

TEST(SurveyTest, BatchesInThreeRunsWhereTheStepIsAsMostAre) {
  // 0.03 + 0.001 b: at a batch of 270 the fixed part is a tenth.
  Known job{.need = 1};
  const Survey made =
      survey({.batches = {8, 16, 32, 64, 128, 256, 512}, .most_cpus = 2, .vary_cpus = false},
             job.measure());
  std::vector<double> batches;
  for (const Measured& run : made.runs) batches.push_back(run.condition.batch);
  EXPECT_THAT(batches, ElementsAre(8, 512, 64));
  const Findings found = findings_of(made);
  EXPECT_NEAR(found.saturation.value_or(0), 270, 1);
  EXPECT_THAT(sentences(found),
              ElementsAre("saturates at batch 270: a GPU then reaches 90 % of its peak rate"));
}

TEST(SurveyTest, TakesTheGreatestBatchThatRuns) {
  Known job{.need = 1, .most_batch = 100};
  const Survey made =
      survey({.batches = {16, 64, 256, 512}, .most_cpus = 1, .vary_cpus = false}, job.measure());
  EXPECT_EQ(made.home.batch, 64);
  EXPECT_EQ(made.runs.size(), 4);
  EXPECT_EQ(made.find({.batch = 256, .cpus = 1})->throughput, 0);
  // A row says that it did not run.
  const perf::Profile profile = profile_of(made, {.model = "Job"});
  ASSERT_EQ(profile.rows.size(), 4);
  EXPECT_EQ(profile.rows[0].model, "job");
  EXPECT_EQ(profile.rows[1].throughput, 0);
  EXPECT_TRUE(std::isnan(profile.rows[1].low));
  // Where the batch is that of all GPUs, each is told once more as a task.
  const perf::Profile twice = profile_of(made, {.model = "Job", .batch_stays = true});
  ASSERT_EQ(twice.rows.size(), 8);
  EXPECT_EQ(twice.rows[1].task, perf::Measurement::Task::training);
}

TEST(SurveyTest, MoreGpusKeepTheBatchThatTheCommandNames) {
  // A step of one GPU of 64 takes 0.094 s; with more 0.02 s are added.
  Known job{.need = 1, .sync_s = 0.02};
  const Question each{.batches = {64},
                      .batch_of_a_gpu = true,
                      .gpus = {1, 2, 4, 8},
                      .most_cpus = 64,
                      .vary_cpus = false};
  const Survey made = survey(each, job.measure());
  EXPECT_EQ(made.runs[1].condition.gpus, 8);
  EXPECT_EQ(made.runs[1].condition.batch, 512);
  const Findings found = findings_of(made);
  ASSERT_EQ(found.more_gpus.front().first, 2);
  EXPECT_NEAR(found.more_gpus.front().second, 2 * 0.094 / 0.114, 1e-9);
  EXPECT_THAT(sentences(found), Contains("2 GPUs give 1.65x"));
  Question all = each;
  all.batch_of_a_gpu = false;
  EXPECT_EQ(survey(all, job.measure()).runs[1].condition.batch, 64);
}

TEST(SurveyTest, MemoryAndANeighbour) {
  Known job{.need = 2};
  const Survey made = survey(
      {.batches = {32}, .most_cpus = 8, .memories_gb = {8, 32}, .neighbour = true}, job.measure());
  EXPECT_EQ(made.runs.back().condition.cpus, 2);  // enough for each
  const Findings found = findings_of(made);
  EXPECT_NEAR(found.beside.value_or(0), 0.6, 1e-9);
  EXPECT_FALSE(found.beside_shares_cores);
  EXPECT_THAT(sentences(found),
              ElementsAre("needs 2 cores per GPU", "with 8 GB of memory runs at 50 %",
                          "with 32 GB of memory runs at 100 %", "next to a neighbor runs at 60 %"));
  const perf::Profile profile =
      profile_of(made, {.model = "job", .gpu_type = "H100", .machine_memory_gb = 64});
  const auto of = [&](double cpus, double memory_gb) {
    return std::count_if(profile.rows.begin(), profile.rows.end(), [&](const auto& row) {
      return row.cpus_per_gpu == cpus && row.memory_gb_per_gpu == memory_gb;
    });
  };
  EXPECT_EQ(of(8, 64), 1);
  EXPECT_EQ(of(2, 64), 1);
  EXPECT_EQ(of(8, 8), 1);
  EXPECT_EQ(of(2, 8), 0);
  EXPECT_EQ(profile.rows.back().neighbour, "job");
  EXPECT_EQ(profile.rows.back().neighbour_batch, 32);
}

TEST(SurveyTest, ACommandThatDoesNotRunAtAllIsNoProfile) {
  Known job{.most_batch = 1};
  const Survey made = survey({.batches = {16, 32}, .most_cpus = 4}, job.measure());
  ASSERT_TRUE(made.cut_short);
  EXPECT_EQ(made.cut_short->message, "out of memory");
  EXPECT_THAT(made.runs, IsEmpty());
}

TEST(SurveyTest, KeepsWhatIsMeasuredWhenTimeIsUp) {
  Known job;
  int left = 3;
  const Measure measure = [&](const Condition& at) -> Result<Measured> {
    if (left-- == 0) return fail(Code::unavailable, "the budget is spent");
    return job.measure()(at);
  };
  const Survey made = survey({.most_cpus = 16}, measure);
  EXPECT_EQ(made.runs.size(), 3);
  EXPECT_EQ(made.cut_short->message, "the budget is spent");
  EXPECT_EQ(made.enough_cpus, std::nullopt);
}

TEST(SurveyTest, AColdCacheIsNoMeasure) {
  int runs = 0;
  const Measure measure = [&](const Condition& at) -> Result<Measured> {
    Measured made{.condition = at, .throughput = runs == 0 ? 5.0 : 10.0};
    if (runs++ == 0) made.use.read_gb = 3;
    return made;
  };
  const Survey made = survey({.most_cpus = 1}, measure);
  EXPECT_EQ(runs, 2);
  ASSERT_EQ(made.runs.size(), 1);
  EXPECT_EQ(made.runs.front().throughput, 10);
}

TEST(SurveyTest, TellsTheUsualPlan) {
  const auto plan = usual_plan({.batches = {8, 16, 32, 64}, .gpus = {1, 2}, .most_cpus = 8});
  ASSERT_GE(plan.size(), 6);
  EXPECT_EQ(to_string(plan.front()), "batch 8, 1 GPU, 8 cores");
  EXPECT_EQ(to_string(plan[1]), "batch 64, 1 GPU, 8 cores");
  EXPECT_EQ(to_string(plan.back()), "batch 64, 1 GPU, 1 core");
}

TEST(CommandLineTest, FillsWhatItNames) {
  const CommandLine command({"python", "/x/train_it.py", "--batch={batch}", "-g{gpus}/{gpus}",
                             "{\"lr\": 1}", "{cpus},{memory_gb},{batch_per_gpu}"});
  EXPECT_TRUE(command.names("batch"));
  EXPECT_FALSE(command.names("lr"));
  EXPECT_EQ(command.subject(), "train_it");
  EXPECT_THAT(
      command.fill({.batch = 64, .gpus = 2, .cpus = 8}),
      ElementsAre("python", "/x/train_it.py", "--batch=64", "-g2/2", "{\"lr\": 1}", "8,,32"));
  EXPECT_THAT(CommandLine::environment({.batch = 64, .gpus = 2, .cpus = 8, .memory_gb = 1.5}),
              Contains(std::make_pair("ALMANAC_BATCH_PER_GPU", "32")));
  EXPECT_EQ(CommandLine({"/opt/bin/train"}).subject(), "train");
}

}  // namespace
}  // namespace almanac::profiling
