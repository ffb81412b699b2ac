// SPDX-License-Identifier: Apache-2.0

/// \file
/// What CODA adds to the use of GPUs beside CPU jobs.
///
/// The paper's log is not published: ours are days of the preset `coda`, at several loads.
///
/// Source   Zhao et al., ICDCS'20, abstract: GPU utilization 20.8 % up on average, and CPU jobs
///          wait no longer.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "reproduce/generated.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "trace/generate.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {

void register_coda(Recipes& registry);

namespace coda_recipe {
namespace {

constexpr double kPublishedGain = 20.8;
constexpr std::array<const char*, 3> kPolicies{"fifo", "drf", "coda"};
constexpr std::array<double, 4> kLoads{0.4, 0.5, 0.6, 0.7};
constexpr std::uint64_t kSeeds = 5;

/// GPU time asked of all that there is while jobs arrive.
double offered_load(const trace::Workload& workload, const cluster::Cluster& cluster) {
  double gpu_s = 0;
  for (const trace::Job& job : trace::generate(workload, 1).jobs) {
    gpu_s += job.request.gpus * seconds(job.outcome.run);
  }
  return gpu_s / (cluster.gpus() * workload.span.days * 86'400);
}

struct Means {
  double use = 0;         ///< Of GPUs, in %.
  double cpu_wait_s = 0;  ///< Of CPU jobs.
};

std::array<Means, 3> play(const trace::Workload& workload, const cluster::Cluster& cluster) {
  std::array<Means, 3> means{};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    experiment::Experiment experiment;
    experiment.speed = "public";
    experiment.warm_up = 6h;
    experiment.policies.assign(kPolicies.begin(), kPolicies.end());
    const experiment::Prepared prepared =
        value_or_throw(experiment::prepare(experiment, trace::generate(workload, seed), cluster));
    for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
      const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared, run));
      const experiment::Summary summary = experiment::summarize(
          prepared.runs[run].composition, prepared.trace, schedule, prepared.power);
      means.at(run).use += 100 * summary.gpu_utilization / kSeeds;
      means.at(run).cpu_wait_s += summary.avg_cpu_job_wait_s / kSeeds;
    }
  }
  return means;
}

void compare(Bench& bench) {
  const cluster::Cluster cluster =
      value_or_throw(cluster::parse_toml(*trace::preset("coda_cluster"), "coda_cluster.toml"));
  const trace::Workload preset = generated("coda");
  const double preset_load = offered_load(preset, cluster);
  std::array<double, 2> gains{};
  for (const double load : to_play(kLoads)) {
    trace::Workload workload = preset;
    workload.span.jobs = std::llround(static_cast<double>(preset.span.jobs) * load / preset_load);
    const auto [fifo, drf, coda] = play(workload, cluster);
    const std::string what = fmt::format("abstract, load {}: ", load);
    const std::array<double, 2> gain{100 * (coda.use / fifo.use - 1),
                                     100 * (coda.use / drf.use - 1)};
    bench.add(what + "GPU utilization gained over fifo", kPublishedGain, gain[0], "%");
    bench.add(what + "GPU utilization gained over drf", kPublishedGain, gain[1], "%");
    bench.add(what + "mean wait of CPU jobs added to that under fifo", 0,
              coda.cpu_wait_s - fifo.cpu_wait_s, "s");
    bench.add(what + "mean wait of CPU jobs added to that under drf", 0,
              coda.cpu_wait_s - drf.cpu_wait_s, "s");
    for (std::size_t at = 0; at < gains.size(); ++at) gains[at] += gain[at] / kLoads.size();
  }
  bench.add("abstract, mean of the loads: GPU utilization gained over fifo", kPublishedGain,
            gains[0], "%");
  bench.add("abstract, mean of the loads: GPU utilization gained over drf", kPublishedGain,
            gains[1], "%");
  bench.note(
      fmt::format("the paper's log is not published: ours are means of {} days of the preset "
                  "coda, made for the purpose; relative gains",
                  kSeeds));
}

}  // namespace
}  // namespace coda_recipe

void register_coda(Recipes& registry) {
  using namespace coda_recipe;
  registry.add({.name = "coda",
                .summary = "GPU utilization that CODA gains over fifo and drf",
                .paper = "Zhao et al., ICDCS'20, abstract",
                .kind = Kind::figure,
                .needs = {},
                .make = compare});
}

}  // namespace almanac::reproduce
