// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "stats/tilt.h"

namespace almanac::trace {
namespace {

using Weights = std::vector<double>;

constexpr double kSecondsPerDay = 86400;
constexpr double kLongestRun = 1e9;  // s: no run is longer

template <typename Rows, typename Field>
Weights column(const Rows& rows, Field field) {
  Weights values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(field(row));
  return values;
}

/// Row by row the octaves of the run time of one size.
Weights run_table(const Workload& workload) {
  const Weights jobs = column(workload.size, [](const auto& size) { return size.jobs; });
  const Weights means = column(workload.size, [](const auto& size) {
    const double gpus = size.jobs * static_cast<double>(size.gpus);
    return gpus > 0 ? size.gpu_time / gpus : 0;
  });
  Weights costs;
  for (std::size_t i = 0; i < workload.run.octaves.size(); ++i) {
    costs.push_back(stats::Octaves::mean_of(i));
  }
  return stats::tilt(
      {.rows = jobs, .columns = workload.run.octaves, .costs = costs, .row_means = means});
}

/// The mean run time that a row of the table stands for.
double mean_run(std::span<const double> octaves) {
  double weight = 0;
  double sum = 0;
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    weight += octaves[i];
    sum += octaves[i] * stats::Octaves::mean_of(i);
  }
  return weight > 0 ? sum / weight : 1;
}

/// Row by row the sizes of the jobs of one VC; `costs` is the mean GPU time of each size.
Weights size_table(const Workload& workload, const Weights& costs) {
  const Weights jobs = column(workload.vc, [](const auto& vc) { return vc.jobs; });
  const Weights sizes = column(workload.size, [](const auto& size) { return size.jobs; });
  const Weights means =
      column(workload.vc, [](const auto& vc) { return vc.jobs > 0 ? vc.gpu_time / vc.jobs : 0; });
  std::vector<char> allowed;
  for (const Workload::Vc& vc : workload.vc) {
    for (const Workload::Size& size : workload.size) {
      allowed.push_back(size.gpus <= largest_job(workload, vc) ? 1 : 0);
    }
  }
  return stats::tilt(
      {.rows = jobs, .columns = sizes, .costs = costs, .row_means = means, .allowed = allowed});
}

/// Whole numbers of jobs that sum to `jobs`: each cell ends where the running sum rounds to.
std::vector<PlanCell> whole_cells(const Weights& table, std::size_t num_sizes, std::int64_t jobs) {
  std::vector<PlanCell> cells;
  double running = 0;
  double total = 0;
  for (const double share : table) total += share;
  std::int64_t done = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    running += table[i];
    const auto end = static_cast<std::int64_t>(
        std::llround(std::min(running / total, 1.0) * static_cast<double>(jobs)));
    if (end > done) {
      cells.push_back({.vc = static_cast<std::uint32_t>(i / num_sizes),
                       .size = static_cast<std::uint32_t>(i % num_sizes),
                       .jobs = end - done});
    }
    done = end;
  }
  return cells;
}

/// GPU sizes whose run times are known at powers of two; adds the mean of each to `means`.
void add_octaves(const Workload& workload, Plan& plan, Weights& means) {
  const std::size_t num_octaves = workload.run.octaves.size();
  const Weights runs = run_table(workload);
  for (std::size_t i = 0; i < workload.size.size(); ++i) {
    const auto row = std::span(runs).subspan(i * num_octaves, num_octaves);
    const bool used = workload.size[i].jobs > 0;
    plan.sizes.push_back({.runs = stats::Octaves(used ? row : workload.run.octaves)});
    means.push_back(mean_run(row));
  }
}

/// GPU sizes of which all have one log-normal, stretched where a size has more or less GPU time
/// than its jobs and GPUs alone would give it.
void add_log_normals(const Workload& workload, Plan& plan, Weights& means) {
  double gpu_time = 0;
  double gpus = 0;
  for (const Workload::Size& size : workload.size) {
    gpu_time += size.gpu_time;
    gpus += size.jobs * static_cast<double>(size.gpus);
  }
  const Workload::Run& run = workload.run;
  const double most = run.most_s > 0 ? run.most_s : kLongestRun;
  for (const Workload::Size& size : workload.size) {
    const double own = size.jobs * static_cast<double>(size.gpus);
    const double stretch = own > 0 ? size.gpu_time / own / (gpu_time / gpus) : 1;
    const stats::LogNormal runs(std::min(run.median_s * stretch, most), run.spread, most);
    plan.sizes.push_back({.runs = runs});
    means.push_back(runs.mean());
  }
}

void add_cpu_jobs(const Workload& workload, Plan& plan) {
  if (cpu_jobs(workload) == 0) return;
  const double spread = workload.cpu.spread;
  const double median = mean_cpu_run(workload) / std::exp(spread * spread / 2);
  const auto first = static_cast<std::uint32_t>(plan.sizes.size());
  Weights table;
  for (const Workload::CpuSize& size : workload.cpu_size) {
    plan.sizes.push_back(
        {.cpus = size.cpus, .runs = stats::LogNormal(median, spread, kLongestRun)});
  }
  for (const Workload::Vc& vc : workload.vc) {
    for (const Workload::CpuSize& size : workload.cpu_size) table.push_back(vc.jobs * size.jobs);
  }
  for (PlanCell cell : whole_cells(table, workload.cpu_size.size(), cpu_jobs(workload))) {
    cell.size += first;
    plan.cells.push_back(cell);
  }
}

}  // namespace

Plan make_plan(const Workload& workload) {
  Plan plan;
  Weights costs;
  workload.run.median_s > 0 ? add_log_normals(workload, plan, costs)
                            : add_octaves(workload, plan, costs);
  const std::size_t num_sizes = workload.size.size();
  for (std::size_t i = 0; i < num_sizes; ++i) {
    const Workload::Size& size = workload.size[i];
    const double states = size.completed + size.cancelled + size.failed;
    plan.sizes[i].gpus = size.gpus;
    plan.sizes[i].completed = size.completed / states;
    plan.sizes[i].cancelled = size.cancelled / states;
    costs[i] *= static_cast<double>(size.gpus);
  }
  plan.cells = whole_cells(size_table(workload, costs), num_sizes, workload.span.jobs);
  plan.vc_load.resize(workload.vc.size());
  for (const PlanCell& cell : plan.cells) {
    const auto gpus = static_cast<double>(workload.vc[cell.vc].nodes * workload.node.gpus);
    plan.vc_load[cell.vc] += static_cast<double>(cell.jobs) * costs[cell.size] /
                             (gpus * workload.span.days * kSecondsPerDay);
  }
  add_cpu_jobs(workload, plan);
  return plan;
}

}  // namespace almanac::trace
