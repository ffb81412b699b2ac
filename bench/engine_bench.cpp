// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs a second of the simulator, per policy and size of trace, beside a bare loop on the same
/// arrivals. One thread, engine only: the trace is in memory, nothing is written to disk.
///
///   engine_bench [--jobs 24000,100000,1000000,10000000] [--policy all] [--repeat 3] [--load 1]
///                [--workload venus] [--scale 1] [--speed NAME] [--amounts 1,100,1000]
///
/// The workload is a preset on its own cluster, of which there are --scale copies; with --speed
/// jobs run at the rates of those models. `--workload coda --scale 100 --speed public --jobs
/// 1200000`: cores, CPU jobs and memory bandwidth on 2,000 nodes, where --jobs counts those with
/// GPUs.
///
/// With --amounts N the workload is another: jobs of one to eight GPUs on 64 nodes that do not keep
/// up with them, each of which asks for one of N amounts of memory, a MB apart. The memory is
/// there, so all that differs between one N and another is how many demands wait: 4 N.
///
/// Processor time of the call, the best of the repeats. The policies take turns, so that whatever
/// else the machine does meets all of them.
///
/// Prints CSV: jobs,policy,jobs_per_s,times_floor,times_first,bytes_per_job,most_waiting; the bare
/// loop is the first line of each size (and of each N), times_first compares with the first policy
/// named. Bytes that a policy named before has used are kept, and not counted again.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/keep_memory.h"
#include "base/rng.h"
#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "experiment/profile.h"
#include "floor.h"
#include "meter.h"
#include "perf/catalogue_file.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "sim/simulation.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::bench {
namespace {

struct Options {
  std::vector<std::string> sizes = {"24000", "100000", "1000000", "10000000"};
  std::string policies = "all";
  int repeat = 3;
  double load = 1;
  std::string workload = "venus";
  std::int64_t scale = 1;
  std::string speed;
  std::vector<std::string> amounts;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--jobs", options.sizes, "Sizes of the trace")->delimiter(',');
  app.add_option("--policy", options.policies, "Policies, or all");
  app.add_option("--repeat", options.repeat, "Runs of each, of which the best counts");
  app.add_option("--load", options.load, "Times as many jobs a second");
  app.add_option("--workload", options.workload, "A preset");
  app.add_option("--scale", options.scale, "Copies of its cluster");
  app.add_option("--speed", options.speed, "Models at whose rates jobs run");
  app.add_option("--amounts", options.amounts, "Amounts of memory that jobs ask")->delimiter(',');
}

/// What one policy costs, or the bare loop.
struct Cost {
  std::string name;
  double best_s = 1e300;
  std::int64_t bytes = 0;
  std::uint32_t most_waiting = 0;
};

void time_floor(const trace::Trace& trace, const cluster::Cluster& cluster, Cost& cost) {
  const double start = processor_s();
  const Duration waited = floor_fifo(trace, cluster.gpus());
  cost.best_s = std::min(cost.best_s, processor_s() - start);
  if (waited < Duration{0}) std::abort();
}

void time_policy(const trace::Trace& trace, const cluster::Cluster& cluster,
                 const schedule::SpeedBook* speeds, Cost& cost) {
  auto policy = experiment::make_policy(*policy::registry().compose(cost.name), trace);
  const std::int64_t before = resident_bytes();
  reset_peak();
  const double start = processor_s();
  const sim::Schedule schedule =
      sim::simulate(trace, cluster, **policy, {.truth = {.speeds = speeds}});
  cost.best_s = std::min(cost.best_s, processor_s() - start);
  cost.bytes = std::max(cost.bytes, peak_bytes() - before);
  for (const sim::Sample& sample : schedule.timeline) {
    cost.most_waiting = std::max(cost.most_waiting, sample.jobs_waiting);
  }
}

void measure(const trace::Trace& trace, const cluster::Cluster& cluster, const Options& options) {
  Cost floor{.name = "bare loop"};
  std::vector<Cost> costs;
  const auto names = options.policies == "all" ? experiment::all_policies()
                                               : experiment::parse_policies(options.policies);
  for (const std::string& name : names) {
    costs.push_back({.name = name});
  }
  std::optional<schedule::SpeedBook> speeds;
  if (!options.speed.empty()) {
    speeds.emplace(cluster, trace, *perf::read_catalogue(options.speed));
  }
  for (int round = 0; round < options.repeat; ++round) {
    for (Cost& cost : costs) {
      time_floor(trace, cluster, floor);
      time_policy(trace, cluster, speeds ? &*speeds : nullptr, cost);
    }
  }
  const auto jobs = static_cast<double>(trace.jobs.size());
  fmt::print("{},{},{:.0f},1,,,\n", trace.jobs.size(), floor.name, jobs / floor.best_s);
  for (const Cost& cost : costs) {
    fmt::print("{},{},{:.0f},{:.2f},{:.2f},{:.0f},{}\n", trace.jobs.size(), cost.name,
               jobs / cost.best_s, cost.best_s / floor.best_s, cost.best_s / costs.front().best_s,
               static_cast<double>(cost.bytes) / jobs, cost.most_waiting);
  }
  std::fflush(stdout);
}

/// What a node has for each of its GPUs, and the least that a job asks for each of its own.
constexpr std::int32_t kGpuMemoryMb = 64'000;
constexpr std::int32_t kLeastMemoryMb = 32'000;

trace::Trace jobs_that_ask(std::uint64_t amounts, int count) {
  trace::Trace made;
  Rng rng(1);
  Time now{};
  for (int number = 0; number < count; ++number) {
    trace::Job job;
    job.id = trace::JobKey{static_cast<std::uint64_t>(number)};
    // On average 3.75 GPUs for 3,600 s every 25 s, of 512.
    now += Duration{static_cast<Duration::rep>(rng.below(50'001))};
    job.request.submit = now;
    job.request.gpus = 1 << rng.below(4);
    job.outcome.run = Duration{static_cast<Duration::rep>(1 + rng.below(7'200'000))};
    const auto mb = kLeastMemoryMb + static_cast<std::int32_t>(rng.below(32'000) % amounts);
    job.request.memory_gb = static_cast<float>(job.request.gpus * mb / 1e3);
    made.jobs.push_back(job);
  }
  return made;
}

void measure_amounts(const Options& options) {
  cluster::Cluster cluster;
  cluster.takes_every_job = true;
  cluster.add_vc("all");
  cluster.add_nodes({.gpus = 8, .memory_gb = 8 * kGpuMemoryMb / 1e3}, 64);
  for (const std::string& size : options.sizes) {
    for (const std::string& amounts : options.amounts) {
      trace::Trace trace = jobs_that_ask(std::stoull(amounts), std::stoi(size));
      experiment::scale_load(trace, options.load);
      measure(trace, cluster, options);
    }
  }
}

int run(const Options& options) {
  fmt::print("jobs,policy,jobs_per_s,times_floor,times_first,bytes_per_job,most_waiting\n");
  if (!options.amounts.empty()) {
    measure_amounts(options);
    return 0;
  }
  const std::string& name = options.workload;
  const auto workload =
      trace::scaled(*trace::parse_workload(*trace::preset(name), name), options.scale);
  const auto cluster = cluster::parse_toml(trace::to_cluster_toml(workload), name);
  for (const std::string& size : options.sizes) {
    trace::Trace trace = trace::generate(trace::stretched(workload, std::stoll(size)), 1);
    experiment::scale_load(trace, options.load);
    measure(trace, *cluster, options);
  }
  return 0;
}

}  // namespace
}  // namespace almanac::bench

int main(int argc, char** argv) {
  almanac::bench::Options options;
  CLI::App app("Jobs a second of the simulator, by policy and size of trace");
  almanac::bench::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  almanac::keep_memory();  // as almanac simulate does
  return almanac::bench::run(options);
}
