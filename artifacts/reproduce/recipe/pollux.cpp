// SPDX-License-Identifier: Apache-2.0

/// \file
/// Pollux in its own simulator: its model piece by piece, mean completion times, and how these hang
/// on the scheduling period and on interference.
///
/// Source   Qiao et al., OSDI'21, section 5.3, Figures 8 and 9, and the program published with it.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"
#include "rules/elastic/genetic_search.h"
#include "rules/elastic/goodput.h"
#include "rules/elastic/step_fit.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_pollux(Recipes& registry);

namespace pollux_recipe {
namespace {

constexpr const char* kQueries = "golden/elastic/pollux/*queries.csv";
constexpr const char* kCases = "golden/elastic/pollux/*cases.json";

constexpr double kQueryTolerance = 1e-12;
constexpr double kCaseTolerance = 1e-9;
constexpr double kWorseFit = 1.01;
/// The sweeps play the workloads of this load.
constexpr const char* kSweptLoad = "1.0";

bool is_near(double ours, double published, double tolerance) {
  return std::abs(ours - published) <= tolerance * std::max(std::abs(published), 1e-300);
}

struct Tally {
  double all = 0, good = 0;

  void count(bool is_good) {
    ++all;
    good += is_good ? 1 : 0;
  }
};

void ask_throughputs(Bench& bench, const File& file, const TickWorkloads& data) {
  Rows rows(file.path, {"application", "placement", "local_bsz", "step_time_s", "sync_time_s"});
  Tally queries;
  while (rows.next()) {
    std::vector<int> ring;
    for (const char digit : rows.text("placement")) {
      rows.require(digit >= '1' && digit <= '9', "expected digits from 1 to 9 as placement");
      ring.push_back(digit - '0');
    }
    const auto time = data.application(rows.text("application"))
                          .steps.at(ring, static_cast<int>(rows.whole("local_bsz")));
    queries.count(time && is_near(time->step_s, rows.number("step_time_s"), kQueryTolerance) &&
                  is_near(time->sync_s, rows.number("sync_time_s"), kQueryTolerance));
  }
  bench.add(fmt::format("{}: queries with step and synchronisation time", file.name), queries.all,
            queries.good, "queries");
}

int count_of(const Json& each, const char* key) {
  const int count = each.at(key);
  require(count >= 1 && count <= 10'000, fmt::format("{} is out of range", key));
  return count;
}

void fit(const Json& each, Tally& fits) {
  std::vector<elastic::Observation> seen;
  for (const Json& point : each.at("points")) {
    seen.push_back({.nodes = count_of(point, "nodes"),
                    .gpus = count_of(point, "replicas"),
                    .atomic_batch = point.at("local_bsz"),
                    .time = {.step_s = point.at("step_time"), .sync_s = point.at("sync_time")}});
    require(seen.back().time.step_s > 0 && seen.back().time.accumulation_s() > 0,
            "step times must be positive");
  }
  require(!seen.empty(), "there is nothing to fit");
  const double ours = elastic::fit_objective(elastic::fit_steps(seen), seen);
  fits.count(ours <= kWorseFit * each.at("objective_at_params").get<double>());
}

elastic::StepModel model_of(const Json& params) {
  return elastic::StepModel::of(params.get<std::array<double, elastic::StepModel::kSize>>());
}

elastic::Gradient gradient_of(const Json& each) {
  return {.sqr = each.at("grad_sqr"), .var = each.at("grad_var")};
}

void optimise(const Json& each, const TickWorkloads& data, Tally& optima) {
  const elastic::Goodput best =
      elastic::best_goodput(model_of(each.at("params")), gradient_of(each),
                            data.application(each.at("application").get<std::string>()),
                            count_of(each, "nodes"), count_of(each, "replicas"));
  optima.count(is_near(best.value, each.at("goodput"), kCaseTolerance) &&
               best.split.atomic_batch == each.at("atomic_bsz") &&
               best.split.accumulations == each.at("accum_steps"));
}

/// A matrix of the case's size, row after row.
elastic::GpuMatrix matrix_of(const Json& rows, std::size_t jobs, std::size_t nodes) {
  elastic::GpuMatrix made;
  for (const Json& row : rows) {
    require(row.size() == nodes, "a row has not one number a node");
    for (const Json& gpus : row) made.push_back(gpus.get<std::uint8_t>());
  }
  require(made.size() == jobs * nodes, "a matrix has not one row a job");
  return made;
}

void evaluate(const Json& each, const TickWorkloads& data, Tally& matrices) {
  elastic::SearchProblem problem{.nodes = count_of(each, "nodes"),
                                 .gpus_per_node = count_of(each, "gpus_per_node")};
  const Json& jobs = each.at("jobs");
  require(!jobs.empty(), "there is no job");
  const auto nodes = static_cast<std::size_t>(problem.nodes);
  problem.present = matrix_of(each.at("base_state"), jobs.size(), nodes);
  const int count = static_cast<int>(jobs.size());
  const int fair_gpus = (problem.nodes * problem.gpus_per_node + count - 1) / count;
  const auto goodput = [&](std::size_t job, int on, int gpus) -> double {
    const Json& of = jobs.at(job);
    if (of.at("params").is_null()) return gpus;
    return elastic::best_goodput(model_of(of.at("params")), gradient_of(of),
                                 data.application(of.at("application").get<std::string>()), on,
                                 gpus)
        .value;
  };
  std::vector<double> base;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const double age_s = jobs[job].at("age_s");
    const double restarts = jobs[job].at("num_restarts");
    problem.jobs.push_back({.restart_factor = std::max(age_s - 30 * restarts, 0.0) / (age_s + 30)});
    base.push_back(goodput(job, 1, fair_gpus));
  }
  problem.speedup = [&](std::size_t job, int on, int gpus) {
    return goodput(job, on, gpus) / base[job];
  };
  elastic::Evaluator evaluator(problem);
  const Json& states = each.at("states");
  for (std::size_t at = 0; at < states.size(); ++at) {
    const elastic::GpuMatrix matrix = matrix_of(states[at], jobs.size(), nodes);
    for (const std::uint8_t gpus : matrix) {
      require(gpus <= problem.gpus_per_node, "a job has more GPUs of a node than it has");
    }
    const elastic::Objectives ours = evaluator(matrix);
    const Json& published = each.at("objectives").at(at);
    matrices.count(is_near(ours[0], published.at(0), kCaseTolerance) &&
                   is_near(ours[1], published.at(1), kCaseTolerance));
  }
}

void check_model(Bench& bench, const File& file, const TickWorkloads& data) {
  Tally fits, optima, matrices;
  each_case(file, [&](const Json& all) {
    for (const Json& each : all.at("fits")) fit(each, fits);
    for (const Json& each : all.at("optimize")) optimise(each, data, optima);
    for (const Json& each : all.at("evaluate")) evaluate(each, data, matrices);
  });
  bench.add(fmt::format("{}: fits no more than 1 % worse", file.name), fits.all, fits.good, "fits");
  bench.add(fmt::format("{}: best goodputs with their batches", file.name), optima.all, optima.good,
            "cases");
  bench.add(fmt::format("{}: matrices with both objectives", file.name), matrices.all,
            matrices.good, "cases");
}

/// What a setting of a sweep means; nothing = it is not known. "pollux-30s", "pollux-2m": the
/// scheduling period; "avoid", "noavoid": whether interference is avoided; "inter25": not avoided,
/// and 25 % of the speed lost where jobs interfere.
std::optional<TickRun> setting_of(std::string_view setting) {
  TickRun made;
  if (setting == "avoid") return made;
  made.avoids_interference = false;
  if (setting == "noavoid") return made;
  if (setting.starts_with("inter")) {
    const auto percent = text::parse_whole(setting.substr(5));
    if (!percent || *percent < 0 || *percent >= 100) return std::nullopt;
    made.options.interference = static_cast<double>(*percent) / 100;
    return made;
  }
  const auto dash = setting.rfind('-');
  if (dash == std::string_view::npos || setting.size() < dash + 3) return std::nullopt;
  const auto number = text::parse_whole(setting.substr(dash + 1, setting.size() - dash - 2));
  const char unit = setting.back();
  if (!number || *number < 1 || *number > 1440 || (unit != 's' && unit != 'm')) return std::nullopt;
  return TickRun{.options = {.tick_s = static_cast<int>(*number) * (unit == 'm' ? 60 : 1)}};
}

std::map<TickRun, TickOutcome> play(const TickWorkloads& data, const std::set<TickRun>& runs) {
  return play_ticks(data, runs, [](const TickRun& run) {
    return elastic::make_pollux({.avoids_interference = run.avoids_interference});
  });
}

void compare_runs(Bench& bench, const TickWorkloads& data) {
  const auto published = read_published(bench, "pollux").runs;
  add_means(bench, "pollux", published, play(data, all_runs(data)));
}

void compare_sweeps(Bench& bench, const TickWorkloads& data) {
  const auto sweeps = read_published(bench, "pollux").sweeps;
  std::set<TickRun> runs;
  for (const auto& [setting, sweep] : sweeps) {
    auto run = setting_of(setting);
    if (!run) {
      bench.note(fmt::format("Setting {} of a sweep is not known.", setting));
      continue;
    }
    for (const auto& [workload, jcts] : sweep) {
      run->workload = {kSweptLoad, workload};
      if (data.workloads.contains(run->workload)) runs.insert(*run);
    }
  }
  const auto played = play(data, runs);
  for (const auto& [setting, sweep] : sweeps) {
    auto run = setting_of(setting);
    if (!run) continue;
    double workloads = 0, theirs = 0, ours = 0;
    for (const auto& [workload, jcts] : sweep) {
      run->workload = {kSweptLoad, workload};
      const auto found = played.find(*run);
      if (found == played.end()) continue;
      ++workloads;
      ours += mean_of(found->second);
      for (const auto& [job, jct_s] : jcts.jcts) {
        theirs += jct_s / static_cast<double>(jcts.jcts.size());
      }
    }
    if (workloads == 0) continue;
    bench.add(fmt::format("sweep {}: mean JCT of {} workloads", setting, workloads),
              theirs / workloads, ours / workloads, "s");
  }
}

std::vector<Need> needs() {
  std::vector<Need> made = tick_needs();
  made.push_back({kQueries, "step times that Pollux' simulator was asked for"});
  made.push_back({kCases, "pieces of Pollux' program, case by case"});
  return made;
}

constexpr const char* kRandom =
    "The search of Pollux is random: means are to be within 2 % of those published.";

}  // namespace
}  // namespace pollux_recipe

void register_pollux(Recipes& registry) {
  using namespace pollux_recipe;
  registry.add({.name = "pollux",
                .summary = "the goodput model of Pollux, and its completion times",
                .paper = "Qiao et al., OSDI'21, section 5.3",
                .kind = Kind::rerun,
                .needs = needs(),
                .takes_minutes = true,
                .make = [](Bench& bench) {
                  const TickWorkloads data = read_tick_workloads(bench);
                  bench.each(kQueries,
                             [&](const File& file) { ask_throughputs(bench, file, data); });
                  bench.each(kCases, [&](const File& file) { check_model(bench, file, data); });
                  compare_runs(bench, data);
                  bench.note(kRandom);
                }});
  registry.add({.name = "pollux-sweeps",
                .summary = "Pollux under other scheduling periods, and with interference",
                .paper = "Qiao et al., OSDI'21, Figures 8 and 9",
                .kind = Kind::rerun,
                .needs = tick_needs(),
                .takes_minutes = true,
                .make = [](Bench& bench) {
                  compare_sweeps(bench, read_tick_workloads(bench));
                  bench.note(kRandom);
                }});
}

}  // namespace almanac::reproduce
