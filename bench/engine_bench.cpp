// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs a second of the simulator, per policy and size of trace, beside a bare loop on the same
/// arrivals. One thread, engine only: the trace is in memory, nothing is written to disk.
///
///   engine_bench [--jobs 24000,100000,1000000,10000000] [--policy all] [--repeat 3] [--load 1]
///
/// Prints CSV: jobs,policy,jobs_per_s,floor_jobs_per_s,times_floor,bytes_per_job,most_waiting.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "cluster/read_toml.h"
#include "floor.h"
#include "policy/registry.h"
#include "sim/experiment.h"
#include "sim/profile.h"
#include "sim/simulation.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Bytes in use now, from the kernel.
std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

/// Forgets the peak, so that the next reading is of what follows.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

struct Options {
  std::vector<std::string> sizes = {"24000", "100000", "1000000", "10000000"};
  std::string policies = "all";
  int repeat = 3;
  double load = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string_view option = argv[at];
    if (option == "--jobs") options.sizes = sim::parse_policies(argv[at + 1]);
    if (option == "--policy") options.policies = argv[at + 1];
    if (option == "--repeat") options.repeat = std::atoi(argv[at + 1]);
    if (option == "--load") options.load = std::atof(argv[at + 1]);
  }
  return options;
}

void measure(const trace::Trace& trace, const cluster::Cluster& cluster,
             const std::string& policy_name, int repeat) {
  const auto jobs = static_cast<double>(trace.jobs.size());
  double best = 1e300;
  double best_floor = 1e300;
  std::int64_t bytes = 0;
  std::uint32_t most_waiting = 0;
  for (int round = 0; round < repeat; ++round) {
    const auto floor_start = Clock::now();
    const Duration waited = floor_fifo(trace, cluster.gpus());
    best_floor = std::min(best_floor, since(floor_start));
    if (waited < Duration{0}) std::abort();

    auto policy = sim::make_policy(*policy::registry().compose(policy_name), trace);
    const std::int64_t before = resident_bytes();
    reset_peak();
    const sim::Schedule schedule = sim::simulate(trace, cluster, **policy, {});
    bytes = peak_bytes() - before;
    best = std::min(best, schedule.wall_s);
    for (const sim::Sample& sample : schedule.timeline) {
      most_waiting = std::max(most_waiting, sample.jobs_waiting);
    }
  }
  fmt::print("{},{},{:.0f},{:.0f},{:.2f},{:.0f},{}\n", trace.jobs.size(), policy_name, jobs / best,
             jobs / best_floor, best / best_floor, static_cast<double>(bytes) / jobs, most_waiting);
  std::fflush(stdout);
}

int run(const Options& options) {
  const auto cluster = cluster::parse_toml(*trace::preset("venus_cluster"), "venus_cluster");
  const auto workload = trace::parse_workload(*trace::preset("venus"), "venus");
  fmt::print("jobs,policy,jobs_per_s,floor_jobs_per_s,times_floor,bytes_per_job,most_waiting\n");
  for (const std::string& size : options.sizes) {
    trace::Trace trace = trace::generate(trace::stretched(*workload, std::stoll(size)), 1);
    sim::scale_load(trace, options.load);
    for (const std::string& policy : sim::parse_policies(options.policies)) {
      measure(trace, *cluster, policy, options.repeat);
    }
  }
  return 0;
}

}  // namespace
}  // namespace almanac::bench

int main(int argc, char** argv) { return almanac::bench::run(almanac::bench::parse(argc, argv)); }
