// SPDX-License-Identifier: Apache-2.0

/// \file
/// PowerFlow within budgets of power, beside one power limit for all GPUs that leaves as much,
/// under which hasten deals them: mean completion times, and what the GPUs took, on the first
/// workload of each load published with Pollux. Nothing is published of PowerFlow but its abstract:
/// what stands beside ours is the fixed limit, in our own simulation too.
///
/// Source   Gu et al., 2023 (PowerFlow); the workloads: Qiao et al., OSDI'21, section 5.3.
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "energy/power_file.h"
#include "experiment/experiment.h"
#include "reproduce/elastic_trace.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"

namespace almanac::reproduce {

void register_powerflow(Recipes& registry);

namespace powerflow_recipe {
namespace {

constexpr std::array kBudgets{0.5, 0.6, 0.7, 0.85, 1.0};
constexpr elastic::TickOptions kMachines{};

/// A GPU at full use with its part of an idle node.
double watts_of(const energy::PowerModel& power, double limit_w) {
  return power.idle_w / power.gpus + power.gpu_w(1, limit_w);
}

/// The limit under which GPUs at full use draw this part of what they draw without.
double limit_of(const energy::PowerModel& power, double part) {
  double low = power.gpu_least_limit_w;
  double high = power.gpu_limit_w;
  while (high - low > 0.01) {
    const double middle = (low + high) / 2;
    (watts_of(power, middle) < part * watts_of(power, energy::kNoLimit) ? low : high) = middle;
  }
  return part < 1 ? low : 0;
}

struct Played {
  double mean_s = 0;
  double gpu_kwh = 0;  // with the GPUs' parts of idle nodes while they are held
};

Result<Played> play_within(const experiment::Experiment& told, const std::string& policy,
                           double limit_w, const std::vector<elastic::TickJob>& jobs) {
  experiment::Experiment experiment = told;
  experiment.policies = {policy};
  cluster::Cluster cluster;
  cluster.add_vc("all");
  cluster.add_nodes({.gpus = kMachines.gpus_per_node, .gpu_power_limit_w = limit_w},
                    kMachines.nodes);
  const auto prepared = experiment::prepare(experiment, trace_of(jobs), cluster);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto schedule = experiment::simulate_run(*prepared, 0);
  if (!schedule) return tl::unexpected(schedule.error());
  Played made;
  for (std::size_t job = 0; job < schedule->jobs.size(); ++job) {
    if (schedule->jobs[job].end == kNoTime) return fail(Code::invalid, "a job never ended");
    made.mean_s += seconds(schedule->jobs[job].end - prepared->trace.jobs[job].request.submit) /
                   static_cast<double>(schedule->jobs.size());
  }
  const energy::PowerModel& power = prepared->power;
  made.gpu_kwh = (schedule->busy_gpu_s * watts_of(power, energy::kNoLimit) -
                  schedule->spared_gpu_s * power.gpu_w()) /
                 3.6e6;
  return made;
}

void compare_budgets(Bench& bench) {
  const TickWorkloads data = read_tick_workloads(bench);
  experiment::Experiment experiment;
  bench.each(kApplications, [&](const File& file) {
    const std::filesystem::path path(file.path);
    experiment.elastic = path.parent_path().parent_path().parent_path().string();
  });
  const Duration restart{std::chrono::seconds{30}};
  experiment.restart = {.one_gpu = restart, .up_to_8_gpus = restart, .more_gpus = restart};
  const auto power = energy::read_power(experiment.power);
  require(power.has_value(), "no power model");
  std::string load;
  for (const auto& [key, jobs] : data.workloads) {
    if (key.first == load) continue;
    load = key.first;
    std::array<Result<Played>, 2 * kBudgets.size()> played;
    tbb::parallel_for(std::size_t{0}, played.size(), [&, &jobs = jobs](std::size_t at) {
      const double part = kBudgets[at / 2];
      try {
        played[at] = at % 2 == 0
                         ? play_within(experiment, fmt::format("powerflow:{}", part), 0, jobs)
                         : play_within(experiment, "hasten", limit_of(*power, part), jobs);
      } catch (const Malformed& wrong) {
        played[at] = tl::unexpected(wrong.error);
      }
    });
    for (std::size_t at = 0; at < kBudgets.size(); ++at) {
      const auto& ours = played[2 * at];
      const auto& fixed = played[2 * at + 1];
      for (const auto* each : {&ours, &fixed}) {
        if (!*each) bench.note(fmt::format("load {}: {}", load, to_string(each->error())));
      }
      if (!ours || !fixed) continue;
      const double limit_w = limit_of(*power, kBudgets[at]);
      const std::string what =
          fmt::format("load {}, workload {}, {:.0f} % of full power, beside {}", load, key.second,
                      100 * kBudgets[at],
                      limit_w > 0 ? fmt::format("a limit of {:.0f} W", limit_w) : "no limit");
      bench.add({what + ": mean JCT", fixed->mean_s, ours->mean_s, "s"});
      bench.add({what + ": GPUs in use", fixed->gpu_kwh, ours->gpu_kwh, "kWh"});
    }
  }
  bench.note(
      "nothing is published: the first number is that of hasten under one limit for all GPUs");
}

}  // namespace
}  // namespace powerflow_recipe

void register_powerflow(Recipes& registry) {
  using namespace powerflow_recipe;
  registry.add({.name = "powerflow",
                .summary = "PowerFlow within budgets of power, beside one power limit for all",
                .paper = "Gu et al., 2023 (PowerFlow)",
                .kind = Kind::baseline,
                .needs = tick_needs(),
                .takes_minutes = true,
                .make = compare_budgets});
}

}  // namespace almanac::reproduce
