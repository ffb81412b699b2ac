// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the integer program of size `opt` costs: jobs of ten models and five numbers of GPUs, drawn
/// at random, whose shares fill the cluster.
#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include <benchmark/benchmark.h>

#include "policy/kit/best_mix.h"

namespace almanac::policy {
namespace {

/// Cores of a GPU and what they bring, of the models of Synergy's tables; memory in MB.
const std::vector<std::vector<SizeChoice>>& models() {
  static const std::vector<std::vector<SizeChoice>> made = {
      {{3000, 62500, 1},
       {4000, 62500, 1.25},
       {5000, 62500, 1.53},
       {6000, 62500, 1.75},
       {9000, 62500, 2},
       {12000, 125000, 2.94}},
      {{3000, 62500, 1},
       {4000, 62500, 1.25},
       {5000, 62500, 1.53},
       {6000, 62500, 1.75},
       {9000, 62500, 2},
       {12000, 125000, 2.89}},
      {{3000, 62500, 1},
       {4000, 62500, 1.3},
       {5000, 62500, 1.53},
       {6000, 62500, 1.75},
       {9000, 62500, 2.4}},
      {{3000, 62500, 1}, {4000, 62500, 1.3}, {5000, 62500, 1.49}, {6000, 62500, 1.55}},
      {{3000, 62500, 1}, {4000, 62500, 1.15}},
      {{3000, 62500, 1},
       {4000, 62500, 1.2},
       {5000, 62500, 1.4},
       {6000, 62500, 1.5},
       {6000, 125000, 2},
       {6000, 187500, 2.5}},
      {{3000, 62500, 1}},
      {{1000, 20830, 1}},
      {{1000, 20830, 1}},
      {{1000, 20830, 1}}};
  return made;
}

void opt_mix(benchmark::State& state) {
  std::mt19937 random(42);
  double longest_ms = 0;
  for (auto _ : state) {
    state.PauseTiming();
    constexpr std::array kGpus = {1, 2, 4, 8, 16};
    std::vector<JobKind> kinds;
    for (const auto& model : models()) {
      for (const int gpus : kGpus) {
        JobKind kind{.jobs = 0, .choices = model};
        for (SizeChoice& choice : kind.choices) {
          choice.cpu_milli *= gpus;
          choice.memory_mb *= gpus;
        }
        kinds.push_back(std::move(kind));
      }
    }
    std::int64_t gpus = 0;
    for (std::int64_t job = 0; job < state.range(0); ++job) {
      const std::size_t kind = random() % kinds.size();
      ++kinds[kind].jobs;
      gpus += kGpus[kind % kGpus.size()];
    }
    std::erase_if(kinds, [](const JobKind& kind) { return kind.jobs == 0; });
    state.ResumeTiming();
    const auto from = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(best_mix(kinds, 3'000 * gpus, 62'500 * gpus));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - from;
    longest_ms = std::max(longest_ms, took.count());
  }
  state.counters["longest_ms"] = longest_ms;
}
BENCHMARK(opt_mix)->Arg(128)->Arg(1'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace almanac::policy

BENCHMARK_MAIN();
