// SPDX-License-Identifier: Apache-2.0
#include "perf/fit.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "perf/fit_parts.h"

namespace almanac::perf {
namespace {

std::vector<Measurement> fed_by(const InputCurve& curve, double full) {
  std::vector<Measurement> rows;
  for (const double cpus : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0}) {
    for (const double memory_gb : {20.0, 50.0, 80.0, 150.0, 300.0}) {
      rows.push_back({.model = "m",
                      .cpus_per_gpu = cpus,
                      .memory_gb_per_gpu = memory_gb,
                      .throughput = full * std::min(1.0, curve(cpus, memory_gb))});
    }
  }
  return rows;
}

TEST(FitInput, FindsTheCurveThatMadeTheData) {
  const InputCurve truth{.enough_cpus = 5, .power = 0.8, .disk = 0.3, .dataset_gb = 120};
  const Input input = fit_input(fed_by(truth, 70));
  EXPECT_NEAR(input.curve.enough_cpus, truth.enough_cpus, 1e-3);
  EXPECT_NEAR(input.curve.power, truth.power, 1e-3);
  EXPECT_NEAR(input.curve.disk, truth.disk, 1e-3);
  EXPECT_NEAR(input.curve.dataset_gb, truth.dataset_gb, 0.1);
  EXPECT_NEAR(input.error.seen, 0, 1e-5);
  EXPECT_NEAR(judge_input(input.curve, fed_by(truth, 900)), 0, 1e-5);  // in any unit
}

TEST(FitInput, AModelThatNeedsNothing) {
  std::vector<Measurement> rows = fed_by({}, 1);
  for (Measurement& row : rows) row.throughput = 5;
  const Input input = fit_input(rows);
  EXPECT_NEAR(input.curve.enough_cpus, 1, 1e-9);  // the fewest that were measured
  EXPECT_EQ(input.curve.disk, 1);
  EXPECT_EQ(input.curve.enough_memory_gb(), 0);
}

std::vector<Measurement> stepped_by(const StepTime& step, const std::string& model = "m",
                                    const std::string& type = "X") {
  std::vector<Measurement> rows;
  for (const auto& [gpus, nodes] :
       {std::pair{1, 1}, {2, 1}, {4, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 2}, {8, 4}, {16, 4}}) {
    for (const double batch : {8.0, 32.0, 128.0}) {
      rows.push_back({.model = model,
                      .batch = batch * gpus,
                      .gpu_type = type,
                      .gpus = gpus,
                      .nodes = nodes,
                      .throughput = batch * gpus / step(batch, gpus, nodes)});
    }
  }
  return rows;
}

constexpr StepTime kTrue{.fixed = 0.05,
                         .sample = 0.002,
                         .local = 0.04,
                         .local_more = 0.01,
                         .remote = 0.1,
                         .remote_more = 0.015,
                         .remote_spread = 0.06,
                         .overlap = 1.5};

TEST(FitBoard, FindsTheStepThatMadeTheData) {
  const Board board = fit_board(stepped_by(kTrue));
  EXPECT_NEAR(board.step.fixed, kTrue.fixed, 1e-4);
  EXPECT_NEAR(board.step.sample, kTrue.sample, 1e-5);
  EXPECT_NEAR(board.step.local, kTrue.local, 1e-3);
  EXPECT_NEAR(board.step.local_more, kTrue.local_more, 1e-3);
  EXPECT_NEAR(board.step.remote, kTrue.remote, 1e-3);
  EXPECT_NEAR(board.step.remote_more, kTrue.remote_more, 1e-3);
  EXPECT_NEAR(board.step.remote_spread, kTrue.remote_spread, 1e-3);
  EXPECT_NEAR(board.step.overlap, kTrue.overlap, 0.01);
  EXPECT_NEAR(board.error.seen, 0, 1e-4);
  EXPECT_EQ(board.least_batch, 8);
  EXPECT_EQ(board.most_batch, 128);
  EXPECT_EQ(board.most_gpus, 16);
}

TEST(FitBoard, OneMeasurementIsAStep) {
  const Board board = fit_board(std::vector<Measurement>{{.model = "m", .throughput = 4}});
  EXPECT_NEAR(board.step(1, 1, 1), 0.25, 1e-9);
  EXPECT_NEAR(board.step(1, 8, 1), 0.25, 1e-9);  // nothing told what more GPUs cost
  EXPECT_TRUE(std::isnan(board.error.held_out));
}

TEST(FitBoard, WhereOnlySpreadWasMeasuredSpreadChangesNothing) {
  auto rows = stepped_by(kTrue);
  std::erase_if(rows, [](const Measurement& row) { return row.nodes == 1 && row.gpus > 1; });
  const Board board = fit_board(rows);
  EXPECT_EQ(board.step(32, 4, 1), board.step(32, 4, 2));
}

/// Three models; alone each makes 10 batches a second.
std::vector<Measurement> sharing_of(const std::map<std::string, Sharing>& models) {
  std::vector<Measurement> rows;
  for (const auto& [name, sharing] : models) {
    for (const double batch : {4.0, 16.0}) {
      rows.push_back({.model = name, .batch = batch, .gpu_type = "X", .throughput = 10 * batch});
      for (const auto& [other, causes] : models) {
        for (const double other_batch : {4.0, 16.0}) {
          const double speed =
              shared_speed(sharing.suffers_at(batch), causes.causes_at(other_batch));
          rows.push_back({.model = name,
                          .batch = batch,
                          .gpu_type = "X",
                          .neighbour = other,
                          .neighbour_batch = other_batch,
                          .throughput = 10 * batch * speed});
        }
      }
    }
  }
  return rows;
}

TEST(FitSharing, FindsTheSpeedsThatMadeTheData) {
  const std::map<std::string, Sharing> truth{
      {"a", {.suffers = 1, .suffers_power = -0.2, .causes = 0.5, .causes_power = 0.3}},
      {"b", {.suffers = 0.4, .suffers_power = 0.1, .causes = 2, .causes_power = 0}},
      {"c", {.suffers = 2, .suffers_power = 0, .causes = 0.8, .causes_power = 0.1}}};
  const auto fit = fit_sharing(sharing_of(truth));
  ASSERT_TRUE(fit.has_value());
  EXPECT_EQ(fit->pairs, 36);
  EXPECT_NEAR(fit->error.seen, 0, 1e-5);
  EXPECT_NEAR(fit->error.held_out, 0, 1e-4);
  for (const auto& [name, sharing] : truth) {
    for (const auto& [other, causes] : truth) {
      EXPECT_NEAR(
          shared_speed(fit->models.at(name).suffers_at(8), fit->models.at(other).causes_at(8)),
          shared_speed(sharing.suffers_at(8), causes.causes_at(8)), 1e-4);
    }
  }
}

TEST(FitSharing, WithoutPairsThereIsNone) {
  EXPECT_FALSE(fit_sharing(stepped_by(kTrue)).has_value());
}

// A computes twice as fast on X as on Y, B eight times: four times by the mean of logarithms. Each
// from the other alone is off by a factor of 4.
TEST(FitGpus, ByHand) {
  const std::vector<Measurement> rows{{.model = "a", .gpu_type = "X", .throughput = 8},
                                      {.model = "a", .gpu_type = "Y", .throughput = 4},
                                      {.model = "b", .gpu_type = "X", .throughput = 80},
                                      {.model = "b", .gpu_type = "Y", .throughput = 10}};
  const auto gpus = fit_gpus(rows, "X");
  ASSERT_EQ(gpus.size(), 2);
  EXPECT_EQ(gpus[0].speed, 1);
  EXPECT_NEAR(gpus[1].speed, 0.25, 1e-12);
  EXPECT_NEAR(gpus[1].speed_error.seen, std::log(2), 1e-12);
  EXPECT_NEAR(gpus[1].speed_error.held_out, std::log(4), 1e-12);
}

TEST(Fit, SortsRowsByWhatTheyTell) {
  Profile lab{.source = "lab", .rows = fed_by({.enough_cpus = 4}, 1)};
  const auto steps = stepped_by(kTrue);
  lab.rows.insert(lab.rows.end(), steps.begin(), steps.end());
  lab.rows.push_back({.model = "m", .gpu_type = "X", .gpus = 32, .throughput = 0});
  const auto made = fit({lab});
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->catalogue.models.size(), 1);
  const Model& model = made->catalogue.models[0];
  EXPECT_NEAR(model.input->curve.enough_cpus, 4, 1e-3);
  ASSERT_EQ(model.boards.size(), 1);
  EXPECT_EQ(model.boards[0].source, "lab");
  EXPECT_EQ(made->notes, std::vector<std::string>{"lab: 1 rows of jobs that did not run left out"});
  ASSERT_EQ(made->inputs.size(), 1);
  EXPECT_LT(made->inputs[0].profiled_points, made->inputs[0].grid_points);
}

TEST(Fit, TheFirstSourceCounts) {
  const auto made = fit({{"first", stepped_by(kTrue)}, {"second", stepped_by({.sample = 9})}});
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->catalogue.models[0].boards[0].source, "first");
  EXPECT_EQ(made->notes,
            std::vector<std::string>{"second: m on X left out, because an earlier source has it"});
}

// What `almanac profile` wrote on two machines: a row that tells no cores, and one that does.
TEST(Fit, ComparesTypesThatOneSourceMeasuredInSeveralFiles) {
  const auto on = [](const char* type, double throughput) {
    return std::vector<Measurement>{
        {.model = "m", .gpu_type = type, .throughput = throughput},
        {.model = "m", .gpu_type = type, .cpus_per_gpu = 1, .throughput = throughput}};
  };
  const auto made = fit({{"own", on("Tesla K80", 12.5)}, {"own", on("A100", 50)}});
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->catalogue.gpus.size(), 2);
  EXPECT_EQ(made->catalogue.find_gpu("A100")->speed, 1);
  EXPECT_NEAR(made->catalogue.find_gpu("Tesla K80")->speed, 0.25, 1e-9);
  EXPECT_EQ(made->catalogue.models[0].input->gpu_type, "A100");
  EXPECT_EQ(made->notes,
            std::vector<std::string>{
                "own: cores and memory of m on Tesla K80 left out; those on A100 are used"});
}

TEST(Fit, NeedsAJobThatRanAlone) {
  EXPECT_FALSE(fit({{"lab", {{.model = "m", .neighbour = "n", .throughput = 3}}}}).has_value());
}

}  // namespace
}  // namespace almanac::perf
