// SPDX-License-Identifier: Apache-2.0

/// \file
/// What Gavel's programs cost with 10,000 jobs, whole and split (POP), and what splitting costs in
/// the answer: jobs of 26 models with speeds, sizes and ages drawn at random, on 7,500 GPUs of
/// three types. CPU time is what counts; `objective` is what the program raises or lowers.
#include <array>
#include <random>

#include <benchmark/benchmark.h>

#include "rules/timeshare/partition.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {
namespace {

Problem ten_thousand() {
  std::mt19937 random(42);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  std::vector<std::vector<double>> models(26);
  for (auto& rates : models) {
    const double slow = uniform(1, 20);
    rates = {slow, slow * uniform(1, 4), slow * uniform(2, 10)};
  }
  Problem made{.gpus = {2'500, 2'500, 2'500}, .jobs = {}};
  constexpr std::array kSizes = {1, 1, 1, 1, 2, 4, 8};
  for (int job = 0; job < 10'000; ++job) {
    const std::vector<double>& rates = models[random() % models.size()];
    const double run_s = uniform(18'000, 54'000);
    const double age_s = uniform(0, 1'000);
    made.jobs.push_back({.rates = rates,
                         .gpus = kSizes[random() % kSizes.size()],
                         .steps_left = run_s * rates[0],
                         .age_s = age_s,
                         .alone_s = age_s * uniform(0.2, 1)});
  }
  return made;
}

template <auto Program, auto Objective>
void divide(benchmark::State& state) {
  const Problem problem = ten_thousand();
  Fractions fractions;
  for (auto _ : state) {
    fractions = by_parts(problem, static_cast<std::size_t>(state.range(0)), Program);
  }
  state.counters["objective"] = Objective(problem, fractions);
}

BENCHMARK(divide<max_min_fairness, least_normalised_rate>)
    ->Name("max-min fairness, parts")
    ->Arg(1)
    ->Arg(25)
    ->Arg(100)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK(divide<finish_time_fairness, worst_finish_time_ratio>)
    ->Name("finish-time fairness, parts")
    ->Arg(1)
    ->Arg(25)
    ->Arg(100)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK(divide<min_total_duration, total_duration_s>)
    ->Name("total duration, parts")
    ->Arg(1)
    ->Arg(25)
    ->Arg(100)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace almanac::timeshare

BENCHMARK_MAIN();
