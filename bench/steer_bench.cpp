// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a look at a large Slurm costs Almanac: nodes of 8 GPUs, jobs that run on all of them, a
/// long queue. The controller's own time is not in it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/rng.h"
#include "steer/decider.h"
#include "steer/lever_registry.h"

namespace almanac::steer {
namespace {

constexpr int kGpus = 8;

/// On each node run as many jobs as fit, of 1, 2, 4 or 8 GPUs.
manager::News news_of(std::int64_t waiting, std::int64_t nodes) {
  Rng rng(1);
  manager::News made{.at = Time{Duration{1'700'000'000'000}}, .whole = true};
  manager::Partition partition{.name = "v100"};
  std::uint32_t last = 0;
  const auto add = [&](int gpus) -> manager::Job& {
    manager::Job& job = made.jobs.emplace_back();
    job.number = manager::JobNumber{++last};
    job.name = fmt::format("train-{}", rng.below(500));
    job.user = fmt::format("user{}", rng.below(100));
    job.partition = "v100";
    job.submit = made.at - Duration{static_cast<std::int64_t>(rng.below(86'400'000))};
    job.eligible = job.submit;
    job.limit = 24h;
    job.nodes = 1;
    job.gpus = gpus;
    job.cpus = gpus * 5;
    job.memory_gb = gpus * 20;
    return job;
  };
  for (std::int64_t at = 0; at < nodes; ++at) {
    const std::string name = fmt::format("g{:05}", at);
    partition.nodes.push_back(name);
    made.nodes.push_back({.name = name,
                          .gpu_type = "v100",
                          .gpus = kGpus,
                          .cpus = 48,
                          .memory_gb = 256,
                          .partitions = {"v100"}});
    const int gpus = 1 << rng.below(4);
    for (int gpu = 0; gpu < kGpus; gpu += gpus) {
      manager::Job& job = add(gpus);
      job.state = manager::State::running;
      job.start = job.submit;
      job.holds = {{.node = name,
                    .gpus = ((std::uint64_t{1} << gpus) - 1) << gpu,
                    .gpu_count = gpus,
                    .cpus = 5.0 * gpus,
                    .memory_gb = 20.0 * gpus}};
    }
  }
  for (std::int64_t at = 0; at < waiting; ++at) add(static_cast<int>(1U << rng.below(5)));
  made.partitions = {partition};
  return made;
}

void look(benchmark::State& state, const char* policy) {
  Mirror mirror;
  mirror.take(news_of(state.range(0), state.range(1)));
  const auto world = make_world(mirror, Grouping::partitions);
  Decider decider(*compose(policy), {}, 0);
  decider.decide(mirror, world, {});
  const Settings settings;
  const manager::Site site{.is_operator = true};
  const Slimmer slimmer{Slimming{}};
  const auto lever = levers().make("order", {.slimmer = slimmer, .present = {}});
  for (auto _ : state) {
    const Decision& decision = decider.decide(mirror, world, {});
    const Scene scene{.settings = settings,
                      .site = site,
                      .can = {.site_factor = true},
                      .mirror = mirror,
                      .decision = decision,
                      .policy = decider.policy()};
    benchmark::DoNotOptimize(lever->want(scene));
  }
}

void take_whole_news(benchmark::State& state) {
  Mirror mirror;
  for (auto _ : state) {
    state.PauseTiming();
    manager::News news = news_of(state.range(0), state.range(1));
    state.ResumeTiming();
    mirror.take(std::move(news));
  }
}

BENCHMARK_CAPTURE(look, almanac, "almanac")
    ->Args({1000, 256})
    ->Args({10'000, 256})
    ->Args({10'000, 10'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look, qssf, "qssf")->Args({10'000, 256})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look, easy, "easy")->Args({10'000, 10'000})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look, gittins, "gittins")->Args({10'000, 256})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look, srtf, "srtf")->Args({10'000, 256})->Unit(benchmark::kMillisecond);
BENCHMARK(take_whole_news)->Args({10'000, 256})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace almanac::steer

BENCHMARK_MAIN();
