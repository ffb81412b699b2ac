// SPDX-License-Identifier: Apache-2.0
#include "reproduce/gavel_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "rules/timeshare/assignment.h"
#include "rules/timeshare/packed.h"
#include "rules/timeshare/partition.h"
#include "rules/timeshare/programs.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

using timeshare::Fractions;
using timeshare::Problem;

/// Rates all 1.
Problem blind(Problem problem) {
  for (timeshare::Job& job : problem.jobs) job.rates.assign(problem.types(), 1.0);
  return problem;
}

std::vector<double> proportional_rates(const Problem& problem) {
  std::vector<double> rates;
  for (const timeshare::Job& job : problem.jobs) {
    rates.push_back(proportional_rate(problem, job));
  }
  return rates;
}

std::vector<double> rates_of(const Problem& problem, const Fractions& fractions) {
  std::vector<double> rates;
  for (std::size_t job = 0; job < fractions.size(); ++job) {
    rates.push_back(effective_rate(problem.jobs[job], fractions[job]));
  }
  return rates;
}

/// GPUs x rate / proportional rate / weight of each job where levels are filled like water.
std::vector<double> water_levels(const Problem& problem) {
  std::vector<timeshare::Entity> entities;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    entities.push_back({.weight = problem.jobs[job].weight, .jobs = {job}});
  }
  std::vector<double> levels = rates_of(problem, water_filling(problem, entities));
  const std::vector<double> proportional = proportional_rates(problem);
  for (std::size_t job = 0; job < levels.size(); ++job) {
    const timeshare::Job& each = problem.jobs[job];
    levels[job] *= each.gpus / each.weight / proportional[job];
  }
  return levels;
}

double assignment_cost(const Problem& problem) {
  const std::vector<int> free(problem.gpus.begin(), problem.gpus.end());
  return timeshare::least_sum_of_times(problem.jobs, free).sum_of_times_s;
}

void add_list(Bench& bench, const std::string& what, const Json& expected,
              const std::vector<double>& ours) {
  const auto published = expected.get<std::vector<double>>();
  require(published.size() == ours.size(), what + ": one number a job is expected");
  std::size_t worst = 0;
  const auto off = [&](std::size_t at) {
    return std::fabs(ours[at] - published[at]) / std::max(std::fabs(published[at]), 1e-12);
  };
  for (std::size_t at = 0; at < ours.size(); ++at) {
    if (off(at) > off(worst)) worst = at;
  }
  if (ours.empty()) return;
  bench.add(fmt::format("{}, the job that differs most ({})", what, worst), published[worst],
            ours[worst], "");
}

}  // namespace

void compare_case(Bench& bench, const std::string& what, const Problem& problem,
                  const Json& expected) {
  for (const auto& [name, value] : expected.items()) {
    const std::string row = fmt::format("{}: {}", what, name);
    if (name == "proportional_throughput") {
      add_list(bench, row, value, proportional_rates(problem));
    } else if (name == "isolated_throughput") {
      add_list(bench, row, value, rates_of(problem, isolated(problem)));
    } else if (name == "water_filling_level") {
      add_list(bench, row, value, water_levels(problem));
    } else if (name == "max_min_fairness") {
      const Problem same = blind(problem);
      bench.add(row, value, least_normalised_rate(same, max_min_fairness(same)), "");
    } else if (name == "max_min_fairness_perf") {
      bench.add(row, value, least_normalised_rate(problem, max_min_fairness(problem)), "");
    } else if (name == "max_sum_throughput_perf") {
      bench.add(row, value, sum_of_rates(problem, max_sum_throughput(problem)), "steps/s");
    } else if (name == "min_total_duration_perf_s") {
      bench.add(row, value, total_duration_s(problem, min_total_duration(problem)), "s");
    } else if (name == "finish_time_fairness_perf_rho") {
      bench.add(row, value, worst_finish_time_ratio(problem, finish_time_fairness(problem)), "");
    } else if (name == "allox_assignment_cost") {
      bench.add(row, value, assignment_cost(problem), "s");
    } else {
      bench.note(fmt::format("{} was not compared: nothing here is called {}.", row, name));
    }
  }
}

Problem read_problem(const Json& gpus, const Json& jobs, const std::vector<std::string>& types) {
  Problem problem;
  if (gpus.is_array()) {
    problem.gpus = gpus.get<std::vector<double>>();
  } else {
    problem.gpus = gpus_of(gpus, types);
  }
  for (const Json& each : jobs) {
    timeshare::Job& job = problem.jobs.emplace_back();
    job.rates = each.at("throughput").get<std::vector<double>>();
    job.gpus = each.at("scale_factor");
    job.weight = each.value("priority", 1.0);
    job.steps_left = each.at("steps_left");
    job.age_s = each.at("age_s");
    require(job.rates.size() == problem.types(), "a throughput for each type is expected");
    require(job.gpus > 0 && job.weight > 0, "scale_factor and priority must be positive");
  }
  return problem;
}

Packed packed_level(const Problem& problem, const std::vector<std::size_t>& kinds,
                    const ModelSpeeds& speeds, std::size_t parts) {
  Packed all{.least = std::numeric_limits<double>::infinity()};
  const std::vector<Problem> pieces = timeshare::split(problem, parts);
  for (std::size_t part = 0; part < parts; ++part) {
    // Jobs of one model and weight are alike.
    Problem counted{.gpus = pieces[part].gpus};
    std::map<std::pair<std::size_t, double>, std::size_t> known;
    std::vector<std::size_t> kind_of;
    for (std::size_t at = 0; at < pieces[part].jobs.size(); ++at) {
      const timeshare::Job& job = pieces[part].jobs[at];
      const std::size_t kind = kinds[at * parts + part];
      const auto [place, is_new] = known.try_emplace({kind, job.weight}, counted.jobs.size());
      if (is_new) {
        counted.jobs.push_back(job);
        kind_of.push_back(kind);
      } else {
        ++counted.jobs[place->second].count;
      }
    }
    const timeshare::PairRates pairs = [&](std::size_t type, std::size_t one, std::size_t other) {
      return speeds.speeds().beside(type, kind_of[one], kind_of[other]);
    };
    const timeshare::Packing packing = packed_max_min_fairness(counted, pairs);
    const std::vector<double> rates = effective_rates(counted, packing, pairs);
    for (std::size_t at = 0; at < rates.size(); ++at) {
      const timeshare::Job& job = counted.jobs[at];
      const double proportional = proportional_rate(counted, job);
      if (proportional <= 0) continue;
      all.least = std::min(all.least, rates[at] / proportional / job.weight);
      all.mean += job.count * rates[at] / proportional;
    }
  }
  all.mean /= number_of_jobs(problem);
  return all;
}

void compare_packed_case(Bench& bench, const std::string& what, const Json& each,
                         const ModelSpeeds& speeds) {
  require(speeds.speeds().beside != nullptr, "needs the rates of pairs of models");
  Problem problem{.gpus = gpus_of(each.at("workers"), speeds.types())};
  std::vector<std::size_t> kinds;
  const Json& models = each.at("jobs");
  for (std::size_t at = 0; at < models.size(); ++at) {
    const auto model = models[at].get<std::string>();
    kinds.push_back(speeds.kind(model, 1));
    problem.jobs.push_back({.rates = speeds.rates(model, 1), .weight = each.at("priority").at(at)});
  }
  bench.add(what + ": max_min_fairness_packed", each.at("max_min_fairness_packed"),
            packed_level(problem, kinds, speeds, 1).least, "");
}

namespace {

/// A step of AlloX: what it has given so far in `before`, by the name of the job.
void compare_allox_step(Bench& bench, const std::string& what, const Json& step,
                        const std::vector<double>& gpus, const std::vector<std::string>& types,
                        std::map<std::string, std::vector<double>>& before) {
  Problem problem{.gpus = gpus};
  Fractions held;
  std::vector<std::string> names;
  const Json& ages = step.at("times_since_start");
  for (const auto& [name, rates] : step.at("throughputs").items()) {
    problem.jobs.push_back({.rates = gpus_of(rates, types),
                            .steps_left = step.at("steps_left").at(name),
                            .age_s = ages.is_object() ? ages.at(name) : ages});
    const auto known = before.find(name);
    held.push_back(known == before.end() ? std::vector<double>(types.size(), 0.0) : known->second);
    names.push_back(name);
  }
  const Fractions given = timeshare::allox(problem, held, 1);
  before.clear();
  double equal = 0;
  for (std::size_t at = 0; at < names.size(); ++at) {
    before[names[at]] = given[at];
    equal += given[at] == gpus_of(step.at("allocation").at(names[at]), types) ? 1 : 0;
  }
  bench.add(what + ": jobs on the type of the published test", static_cast<double>(names.size()),
            equal, "jobs");
}

void compare_isolated(Bench& bench, const std::string& what, const Json& test,
                      const std::vector<std::string>& types) {
  Problem problem{.gpus = test.at("workers_k80_p100_v100").get<std::vector<double>>()};
  for (const Json& gpus : test.at("scale_factors")) {
    problem.jobs.push_back({.rates = std::vector<double>(problem.types(), 1.0), .gpus = gpus});
  }
  const Fractions alone = isolated(problem);
  for (std::size_t job = 0; job < alone.size(); ++job) {
    const Json& published = test.at("allocation").at(std::to_string(job));
    add_list(bench, fmt::format("{} job {}", what, job), Json(gpus_of(published, types)),
             alone[job]);
  }
  bench.add(what + ": max_min_objective", test.at("max_min_objective"),
            least_normalised_rate(problem, max_min_fairness(problem)), "");
}

}  // namespace

void compare_named_test(Bench& bench, const std::string& name, const Json& test,
                        const std::vector<std::string>& types) {
  if (test.contains("cluster")) {
    const std::vector<double> gpus = gpus_of(test.at("cluster"), types);
    std::map<std::string, std::vector<double>> before;
    for (const auto& [key, step] : test.items()) {
      if (!key.starts_with("step")) continue;
      compare_allox_step(bench, fmt::format("{} {}", name, key), step, gpus, types, before);
    }
  } else if (test.contains("scale_factors")) {
    compare_isolated(bench, name, test, types);
  } else if (test.contains("expected")) {
    compare_case(bench, name,
                 read_problem(test.at("workers_k80_p100_v100"), test.at("jobs"), types),
                 test.at("expected"));
  } else {
    bench.note(fmt::format("{} tells no problem, only an answer: not compared", name));
  }
}

void compare_pop(Bench& bench, const File& file, const ModelSpeeds& speeds, PopLevels& levels) {
  require(speeds.speeds().beside != nullptr, "needs the rates of pairs of models");
  Problem problem;
  std::vector<std::size_t> kinds;
  Rows rows(file.path, {"job", "model"});
  while (rows.next()) {
    timeshare::Job& job = problem.jobs.emplace_back();
    for (const std::string& type : speeds.types()) job.rates.push_back(rows.number(type));
    kinds.push_back(speeds.kind(std::string(rows.text("model")), 1));
  }
  problem.gpus.assign(speeds.types().size(), std::floor(number_of_jobs(problem) / 4));
  Rows best(bench.beside(file, file.stem + "_objectives.csv").path,
            {"parts", "published_packed_min_normalised", "published_packed_mean_normalised",
             "unpacked_min_optimum", "unpacked_mean_optimum"});
  while (best.next()) {
    const std::int64_t told = best.whole("parts");
    best.require(told > 0 && told <= static_cast<std::int64_t>(kinds.size()), "no such parts");
    const auto parts = static_cast<std::size_t>(told);
    const std::string what = fmt::format("{} in {} parts", file.stem, parts);
    const Packed packed = packed_level(problem, kinds, speeds, parts);
    levels[kinds.size()][parts] = packed.mean;
    bench.add(what + ": packed, least", best.number("published_packed_min_normalised"),
              packed.least, "");
    bench.add(what + ": packed, mean", best.number("published_packed_mean_normalised"), packed.mean,
              "");
    const std::vector<double> rates =
        rates_of(problem, timeshare::by_parts(problem, parts, timeshare::max_min_fairness));
    double least = std::numeric_limits<double>::infinity();
    double sum = 0;
    const std::vector<double> proportional = proportional_rates(problem);
    for (std::size_t job = 0; job < rates.size(); ++job) {
      least = std::min(least, rates[job] / proportional[job]);
      sum += rates[job] / proportional[job];
    }
    bench.add(what + ": alone, least", best.number("unpacked_min_optimum"), least, "");
    bench.add(what + ": alone, mean", best.number("unpacked_mean_optimum"),
              sum / number_of_jobs(problem), "");
  }
}

void compare_pop_figure(Bench& bench, const File& file, const PopLevels& levels) {
  Rows rows(file.path, {"jobs", "weights", "solver", "variant", "mean_effective_throughput_ratio"});
  int left_out = 0;
  while (rows.next()) {
    constexpr std::string_view kPop = "POP-";
    const std::string_view variant = rows.text("variant");
    if (!variant.starts_with(kPop)) continue;  // the whole itself, and Gandiva's random pairs
    const auto parts = text::parse_whole(variant.substr(kPop.size()));
    rows.require(parts && *parts > 0, "the variant tells no number of parts");
    const auto of_jobs = levels.find(static_cast<std::size_t>(rows.whole("jobs")));
    if (rows.text("weights") != "even" || of_jobs == levels.end() ||
        of_jobs->second.count(1) == 0 ||
        of_jobs->second.count(static_cast<std::size_t>(*parts)) == 0) {
      ++left_out;
      continue;
    }
    bench.add(fmt::format("{} {} jobs {} ({} solver): mean rate beside the whole", file.stem,
                          of_jobs->first, variant, rows.text("solver")),
              rows.number("mean_effective_throughput_ratio"),
              of_jobs->second.at(static_cast<std::size_t>(*parts)) / of_jobs->second.at(1), "");
  }
  if (left_out > 0) {
    bench.note(
        fmt::format("{}: the jobs of {} rows are not told: not compared", file.stem, left_out));
  }
}

}  // namespace almanac::reproduce
