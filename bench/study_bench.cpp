// SPDX-License-Identifier: Apache-2.0

/// \file
/// Seconds to draw every figure of a study, on one thread: of made-up jobs whose starts and ends
/// are those of a simulation, so that the figures of waiting and of utilisation are drawn too.
///
///   study_bench [jobs] [repeats]
///
/// Prints CSV: figure,cpu_s,bytes_per_job (beyond the trace, at the peak); the best of the repeats.
/// The last line is of the whole.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <malloc.h>

#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "experiment/profile.h"
#include "meter.h"
#include "policy/registry.h"
#include "sim/simulation.h"
#include "study/figures.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::bench {
namespace {

struct Cost {
  double best_s = 1e300;
  std::int64_t bytes = 0;
};

template <class Work>
void measure(Cost& cost, Work work) {
  ::malloc_trim(0);  // or what a figure before freed would hide what this one takes
  const std::int64_t before = resident_bytes();
  reset_peak();
  const double start = processor_s();
  work();
  cost.best_s = std::min(cost.best_s, processor_s() - start);
  cost.bytes = std::max(cost.bytes, peak_bytes() - before);
}

/// The jobs as a log of a cluster under fifo would have them.
trace::Trace logged(std::int64_t jobs, const cluster::Cluster& cluster) {
  const auto workload = trace::parse_workload(*trace::preset("venus"), "venus");
  trace::Trace trace = trace::generate(trace::stretched(*workload, jobs), 1);
  auto policy = experiment::make_policy(*policy::registry().compose("fifo"), trace);
  const sim::Schedule schedule = sim::simulate(trace, cluster, **policy, {});
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    trace.jobs[at].outcome.start = schedule.jobs[at].start;
    trace.jobs[at].outcome.end = schedule.jobs[at].end;
  }
  return trace;
}

int run(std::int64_t jobs, int repeats) {
  const auto cluster = cluster::parse_toml(*trace::preset("venus_cluster"), "venus_cluster");
  const trace::Trace trace = logged(jobs, *cluster);
  const auto& recipes = study::figures().all();
  std::vector<Cost> costs(recipes.size());
  Cost whole;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const study::Study study(trace, *cluster);
    for (std::size_t at = 0; at < recipes.size(); ++at) {
      const auto& needs = recipes[at].needs;
      const bool allowed = std::all_of(needs.begin(), needs.end(),
                                       [&](study::Need need) { return study.has(need); });
      if (allowed) measure(costs[at], [&] { recipes[at].draw(study); });
    }
    measure(whole, [&] { study::draw_all(study::Study(trace, *cluster)); });
  }
  const auto print = [&](std::string_view name, const Cost& cost) {
    fmt::print("{},{:.4f},{:.0f}\n", name, cost.best_s,
               static_cast<double>(cost.bytes) / static_cast<double>(jobs));
  };
  fmt::print("figure,cpu_s,bytes_per_job\n");
  for (std::size_t at = 0; at < recipes.size(); ++at) {
    if (costs[at].best_s < 1e300) print(recipes[at].id, costs[at]);
  }
  print("all", whole);
  return 0;
}

}  // namespace
}  // namespace almanac::bench

int main(int argc, char** argv) {
  const std::int64_t jobs = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  return almanac::bench::run(jobs, repeats);
}
