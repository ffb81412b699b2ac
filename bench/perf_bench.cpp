// SPDX-License-Identifier: Apache-2.0

/// \file
/// What asking for a rate costs: one GPU, a job of 16 GPUs over two nodes beside another, the
/// parts; a task on so many nodes; and finding the model of a job whose batch was seen before.
#include <array>

#include <benchmark/benchmark.h>

#include "perf/catalogue_file.h"
#include "perf/speed_models.h"

namespace almanac::perf {
namespace {

struct Asked {
  SpeedModels models{read_catalogue(kUsualCatalogue).value()};
  GpuType type = models.gpu_type("T4");
  const SpeedModel& model = *models.find({.name = "resnet-50"}).speed;
  const SpeedModel* other = models.find({.name = "bert"}).speed;
  Grant node{.gpus = 8, .cpus = 20, .memory_gb = 400, .type = type};
  Grant single{.gpus = 1, .cpus = 2, .memory_gb = 50, .type = type};
};

void rate_of_one_gpu(benchmark::State& state) {
  const Asked asked;
  const JobSpeed job(asked.model, {&asked.single, 1});
  Grant now = asked.single;
  for (auto _ : state) {
    benchmark::DoNotOptimize(now);
    benchmark::DoNotOptimize(job.rate({&now, 1}));
  }
}
BENCHMARK(rate_of_one_gpu);

void rate_of_two_nodes_beside_another(benchmark::State& state) {
  const Asked asked;
  const JobSpeed job(asked.model, {&asked.node, 1});
  std::array now{asked.node, asked.node};
  for (auto _ : state) {
    benchmark::DoNotOptimize(now);
    benchmark::DoNotOptimize(job.rate(now, {&asked.other, 1}));
  }
}
BENCHMARK(rate_of_two_nodes_beside_another);

void parts_of_two_nodes_beside_another(benchmark::State& state) {
  const Asked asked;
  const JobSpeed job(asked.model, {&asked.node, 1});
  std::array now{asked.node, asked.node};
  for (auto _ : state) {
    benchmark::DoNotOptimize(now);
    benchmark::DoNotOptimize(job.parts(now, {&asked.other, 1}));
  }
}
BENCHMARK(parts_of_two_nodes_beside_another);

void rate_of_a_task_on_a_shape(benchmark::State& state) {
  SpeedModels models(read_catalogue("genie").value());
  const GenieRate& rate = models.catalogue().find("inception-v3")->training->rate;
  const GenieTask task{.rate = &rate, .batch = 64, .steps = 1000, .startup_s = 30};
  const Grant alone{};
  const JobSpeed job(*models.find({.name = "inception-v3"}).speed, {&alone, 1}, task);
  int nodes = 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(nodes);
    benchmark::DoNotOptimize(job.rate(nodes, 4));
  }
}
BENCHMARK(rate_of_a_task_on_a_shape);

void find_the_model_of_a_job(benchmark::State& state) {
  Asked asked;
  for (auto _ : state) {
    benchmark::DoNotOptimize(asked.models.find({.name = "train_resnet50_v2"}).speed);
  }
}
BENCHMARK(find_the_model_of_a_job);

}  // namespace
}  // namespace almanac::perf

BENCHMARK_MAIN();
