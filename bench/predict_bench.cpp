// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a prediction costs: at a submission, among 100,000 names, and for a model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <xgboost/c_api.h>

#include "../tests/predict/testing_log.h"
#include "base/rng.h"
#include "predict/learned.h"
#include "predict/replay.h"
#include "predict/similar_names.h"

namespace almanac::predict {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A submission in simulated time: features, forecast, and the end that is learned from. Weekly
/// training is measured apart and stands beside it as fit_us, also for each submission.
void foresee(benchmark::State& state) {
  const trace::Trace log = testing_log(20'000);
  double fit_s = 0;
  for (auto _ : state) {
    Learned learned(log.names);
    const auto start = std::chrono::steady_clock::now();
    replay(
        log.jobs,
        [&](JobId job, const trace::Request& request) {
          benchmark::DoNotOptimize(learned.foresee(job, request));
        },
        [&](JobId job, const trace::Request& request, const Ended& ended) {
          learned.learn(job, request, ended);
        });
    const double took_s = seconds_since(start);
    fit_s += learned.fit_s();
    state.SetIterationTime((took_s - learned.fit_s()) / static_cast<double>(log.jobs.size()));
  }
  state.counters["fit_us"] =
      1e6 * fit_s / static_cast<double>(log.jobs.size()) / static_cast<double>(state.iterations());
}
BENCHMARK(foresee)->Iterations(1)->UseManualTime()->Unit(benchmark::kMicrosecond);

std::string name_of(Rng& rng) {
  static constexpr std::array<const char*, 12> kWords = {"train", "resnet50", "bert", "eval",
                                                         "lr",    "seed",     "gpt",  "imagenet",
                                                         "coco",  "test",     "fold", "baseline"};
  std::string name;
  for (std::uint64_t part = 0; part < 3; ++part) {
    name += fmt::format("{}{}", part > 0 ? "_" : "", kWords[rng.below(kWords.size())]);
  }
  return name + fmt::format("_{}", rng.below(100'000));
}

/// The nearest of 100,000 distinct names; `near` = there is one, else none is similar.
void nearest_name(benchmark::State& state, bool near) {
  Rng rng(1);
  SimilarNames names;
  for (std::uint32_t at = 0; at < 100'000; ++at) names.add(name_of(rng), at);
  for (auto _ : state) {
    std::string asked = near ? name_of(rng) : std::string();
    while (!near && asked.size() < 20) asked += static_cast<char>('!' + rng.below(90));
    benchmark::DoNotOptimize(names.nearest(asked));
  }
}
BENCHMARK_CAPTURE(nearest_name, similar, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(nearest_name, unheard_of, false)->Unit(benchmark::kMicrosecond);

/// A model of `range` jobs, calibration included.
void fit(benchmark::State& state) {
  const trace::Trace log = testing_log(static_cast<std::size_t>(state.range(0)));
  Learned learned(log.names);
  replay(
      log.jobs, [&](JobId job, const trace::Request& request) { learned.watch(job, request); },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        learned.learn(job, request, ended);
      });
  for (auto _ : state) benchmark::DoNotOptimize(Model::fit(learned.examples().all(), {}));
}
BENCHMARK(fit)->Arg(5'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void must(int status) {
  if (status != 0) throw std::runtime_error(XGBGetLastError());
}

/// Trees grown by XGBoost alone, with the same parameters, from a matrix of `columns` columns.
void grow_directly(const std::vector<float>& values, std::size_t columns,
                   const std::vector<float>& labels, const BoostOptions& options) {
  DMatrixHandle matrix = nullptr;
  must(
      XGDMatrixCreateFromMat_omp(values.data(), labels.size(), columns, std::nanf(""), &matrix, 1));
  must(XGDMatrixSetFloatInfo(matrix, "label", labels.data(), labels.size()));
  BoosterHandle booster = nullptr;
  must(XGBoosterCreate(&matrix, 1, &booster));
  const std::vector<std::pair<const char*, std::string>> parameters = {
      {"objective", "multi:softprob"},
      {"num_class", fmt::format("{}", options.classes)},
      {"tree_method", "hist"},
      {"max_bin", "64"},
      {"max_depth", fmt::format("{}", options.depth)},
      {"eta", fmt::format("{}", options.learning_rate)},
      {"min_child_weight", fmt::format("{}", options.min_child_weight)},
      {"subsample", fmt::format("{}", options.rows)},
      {"colsample_bytree", fmt::format("{}", options.columns)},
      {"nthread", "1"},
      {"seed", fmt::format("{}", options.seed)},
      {"verbosity", "0"}};
  for (const auto& [name, value] : parameters)
    must(XGBoosterSetParam(booster, name, value.c_str()));
  for (int round = 0; round < options.rounds; ++round) {
    must(XGBoosterUpdateOneIter(booster, round, matrix));
  }
  XGBoosterFree(booster);
  XGDMatrixFree(matrix);
}

/// 200,000 rows of which 30 columns are known: our training, and XGBoost's own on these columns
/// alone. `ratio` = ours / its.
void grow(benchmark::State& state) {
  constexpr std::size_t kRows = 200'000;
  constexpr std::size_t kKnown = 30;
  Rng rng(1);
  std::vector<Row> rows(kRows);
  std::vector<int> labels(kRows);
  std::vector<float> values;
  BoostOptions options;
  options.rounds = 8;
  for (std::size_t at = 0; at < kRows; ++at) {
    rows[at].fill(std::nanf(""));
    for (std::size_t column = 0; column < kKnown; ++column) {
      rows[at][column] = static_cast<float>(rng.normal());
      values.push_back(rows[at][column]);
    }
    const auto guess = static_cast<int>(6 + 2 * rows[at][0] + rows[at][1] + rng.normal());
    labels[at] = std::clamp(guess, 0, options.classes - 1);
  }
  const std::vector<float> wanted(labels.begin(), labels.end());
  double direct_s = 0;
  double ours_s = 0;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    grow_directly(values, kKnown, wanted, options);
    direct_s += seconds_since(start);
    start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(Boosted::fit(rows, labels, options));
    const double took_s = seconds_since(start);
    ours_s += took_s;
    state.SetIterationTime(took_s);
  }
  state.counters["ratio"] = ours_s / direct_s;
}
BENCHMARK(grow)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace almanac::predict

BENCHMARK_MAIN();
