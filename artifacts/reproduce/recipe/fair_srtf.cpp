// SPDX-License-Identifier: Apache-2.0

/// \file
/// `fair_srtf` of ours in the published simulators of Gavel and Shockwave, beside the best of the
/// policies published there, figure by figure; and of each workload the front of mean JCT and jobs
/// that ended late: no run, of those policies or of ours with any of some powers, is better in one
/// and no worse in the other.
///
/// Source   Narayanan et al., OSDI'20 (Gavel); Zheng et al., NSDI'23 (Shockwave), and their
///          programs.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "gavel/rules.h"
#include "reproduce/gavel_data.h"
#include "reproduce/gavel_runs.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "reproduce/shockwave_runs.h"

namespace almanac::reproduce {

void register_fair_srtf(Recipes& registry);

namespace fair_srtf_recipe {
namespace {

constexpr const char* kOurs = "fair_srtf";
/// Of the finish-time ratio in `fair_srtf`, its own among them: from the shortest first to nearly
/// the worst off first.
constexpr std::array<double, 7> kPowers = {0, 1, 2, 3, 4, 6, 12};
constexpr const char* kSpeeds = "data/elastic/gavel/simulation_alone.csv";
/// Jobs an hour of Gavel's streams: most GPUs in use, and more work than there are GPUs for.
constexpr std::array<double, 2> kLoads = {4, 6};
/// The jobs of a stream that count, once the cluster has filled.
constexpr int kFrom = 1000;
constexpr int kUntil = 1500;
/// A job above it ended late beside a part of the cluster of its own (Shockwave, section 8).
constexpr double kUnfair = 1.05;

/// Of one run: what a job took, and that beside a part of the cluster of its own.
struct Outcome {
  double jct_s = 0;
  double ratio = 0;
};

using Outcomes = std::map<std::string, std::vector<Outcome>>;  // by policy

struct Figure {
  const char* name;
  const char* unit;
  double (*of)(const std::vector<Outcome>&);
};

constexpr std::array<Figure, 4> kFigures = {
    {{"mean JCT", "s",
      [](const std::vector<Outcome>& jobs) {
        return std::accumulate(jobs.begin(), jobs.end(), 0.0,
                               [](double sum, const Outcome& job) { return sum + job.jct_s; }) /
               static_cast<double>(jobs.size());
      }},
     {"mean finish-time ratio", "",
      [](const std::vector<Outcome>& jobs) {
        return std::accumulate(jobs.begin(), jobs.end(), 0.0,
                               [](double sum, const Outcome& job) { return sum + job.ratio; }) /
               static_cast<double>(jobs.size());
      }},
     {"worst finish-time ratio", "",
      [](const std::vector<Outcome>& jobs) {
        return std::accumulate(jobs.begin(), jobs.end(), 0.0, [](double most, const Outcome& job) {
          return std::max(most, job.ratio);
        });
      }},
     {"jobs above 1.05", "%", [](const std::vector<Outcome>& jobs) {
        return 100.0 *
               static_cast<double>(
                   std::count_if(jobs.begin(), jobs.end(),
                                 [](const Outcome& job) { return job.ratio > kUnfair; })) /
               static_cast<double>(jobs.size());
      }}}};

std::string with_power(double power) { return fmt::format("{} to the {}", kOurs, power); }
bool is_ours(const std::string& policy) { return policy.starts_with(kOurs); }

/// Rows of the runs that no other one beats both in mean JCT and in jobs that ended late.
void show_front(Bench& bench, const std::string& what, const Outcomes& runs) {
  const Figure& soon = kFigures.front();
  const Figure& late = kFigures.back();
  for (const auto& [policy, jobs] : runs) {
    const auto beats = [&, &own = jobs](const auto& other) {
      const double sooner = soon.of(own) - soon.of(other.second);
      const double fewer = late.of(own) - late.of(other.second);
      return sooner >= 0 && fewer >= 0 && sooner + fewer > 0;
    };
    if (jobs.empty() || std::any_of(runs.begin(), runs.end(), beats)) continue;
    for (const Figure& figure : {soon, late}) {
      bench.add(fmt::format("{}: on the front, {}: {}", what, policy, figure.name),
                std::numeric_limits<double>::quiet_NaN(), figure.of(jobs), figure.unit);
    }
  }
}

/// Ours among the runs.
void compare(Bench& bench, const std::string& what, const Outcomes& runs) {
  const auto ours = runs.find(with_power(fairness::kLatenessPower));
  require(ours != runs.end() && !ours->second.empty(), what + ": no job of ours ended");
  for (const Figure& figure : kFigures) {
    double best = std::numeric_limits<double>::infinity();
    std::string of;
    for (const auto& [policy, jobs] : runs) {
      if (is_ours(policy) || jobs.empty() || figure.of(jobs) >= best) continue;
      best = figure.of(jobs);
      of = policy;
    }
    bench.add(fmt::format("{}: {}, best {}", what, figure.name, of), best, figure.of(ours->second),
              figure.unit);
  }
  show_front(bench, what, runs);
}

/// Shockwave's sets: what its program printed, and what is played here.
void compare_sets(Bench& bench) {
  ShockwaveRuns runs;
  bench.each(kShockwaveSpeeds, [&](const File& file) { runs.read_speeds(file); });
  bench.each(kShockwavePatterns, [&](const File& file) { runs.read_patterns(file); });
  bench.each(kShockwaveTraces, [&](const File& file) { runs.read_traces(file); });
  std::map<std::string, Outcomes> printed;
  bench.each(kShockwaveJobs, [&](const File& file) {
    Rows rows(file.path, {"set", "policy", "jct_s", "ftf_static"});
    while (rows.next()) {
      if (rows.has("kind") && rows.text("kind") != "simulation") continue;
      printed[std::string(rows.text("set"))][std::string(rows.text("policy"))].push_back(
          {rows.number("jct_s"), rows.number("ftf_static")});
    }
  });
  for (auto& [name, by_policy] : printed) {
    const Set set = set_of(name);
    const auto take = [&, &by_policy = by_policy, &name = name](
                          const std::string& policy, double power, const std::string& as) {
      const gavel::Course* const course = runs.play(set, policy, power);
      require(course != nullptr, name + ": there is no such set of jobs");
      const Workload& workload = runs.workload(set);
      for (const gavel::Ended& job : course->ended) {
        by_policy[as].push_back(
            {job.jct_s, static_fairness(job.jct_s, workload.regimes.at(job.number).exclusive_s,
                                        workload.jobs.size(), set.gpus)});
      }
    };
    for (const std::string_view policy : gavel::rule_names()) {
      if (by_policy.count(std::string(policy)) > 0 || is_ours(std::string(policy))) continue;
      if (policy.find("_perf") != std::string_view::npos) continue;  // there is one type
      if (gavel::make_rule(policy, {}) == nullptr) continue;         // no rates of pairs are known
      take(std::string(policy), fairness::kLatenessPower, std::string(policy));
    }
    for (const double power : kPowers) take(kOurs, power, with_power(power));
    compare(bench, name, by_policy);
  }
}

/// A stream of Gavel's on kEachType GPUs of each type.
void compare_stream_at(Bench& bench, const std::string& what, const std::vector<gavel::Job>& jobs,
                       const ModelSpeeds& speeds, std::uint32_t seed) {
  gavel::Cluster cluster{.types = speeds.types(), .gpus = {}};
  cluster.gpus.assign(cluster.types.size(), kEachType);
  const double gpus = kEachType * static_cast<double>(cluster.types.size());
  std::map<int, const gavel::Job*> by_number;
  for (const gavel::Job& job : jobs) by_number[job.number] = &job;
  Outcomes runs;
  const auto take = [&](const std::string& policy, double power, const std::string& as) {
    const auto rule = gavel::make_rule(policy, {.seed = seed, .lateness_power = power});
    const gavel::Course course =
        gavel::play(cluster, speeds.speeds(), jobs, *rule,
                    {.seed = seed, .measured_from = kFrom, .measured_until = kUntil});
    for (const gavel::Ended& job : course.ended) {
      if (job.number < kFrom || job.number >= kUntil) continue;
      const gavel::Job& asked = *by_number.at(job.number);
      const std::vector<double>& rates = speeds.speeds().alone[asked.kind];
      const double rate =
          std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
      runs[as].push_back(
          {job.jct_s, job.jct_s / (asked.steps / rate * std::max(1.0, job.mean_active / gpus))});
    }
  };
  for (const std::string policy :
       {"allox", "fifo_perf", "finish_time_fairness_perf", "gandiva_fair", "max_min_fairness_perf",
        "min_total_duration_perf"}) {
    take(policy, fairness::kLatenessPower, policy);
  }
  for (const double power : kPowers) take(kOurs, power, with_power(power));
  compare(bench, what, runs);
}

void make(Bench& bench) {
  compare_sets(bench);
  ModelSpeeds speeds;
  bench.each(kSpeeds, [&](const File& file) { speeds = ModelSpeeds(file.path); });
  for (const auto& [seed, path] : find_streams(bench)) {
    for (const double load : kLoads) {
      compare_stream_at(bench, fmt::format("stream {} at {} jobs/h", seed, load),
                        read_stream(path, speeds, 3600 / load), speeds, seed);
    }
  }
}

}  // namespace
}  // namespace fair_srtf_recipe

void register_fair_srtf(Recipes& registry) {
  using namespace fair_srtf_recipe;
  registry.add({.name = "fair-srtf",
                .summary = "fair_srtf beside the best of Gavel's and Shockwave's policies",
                .paper = "ours; Narayanan et al., OSDI'20; Zheng et al., NSDI'23",
                .kind = Kind::second,
                .needs = {{kShockwaveTraces, kShockwaveFrom},
                          {kShockwaveSpeeds, kShockwaveFrom},
                          {kShockwavePatterns, kShockwaveFrom},
                          {kShockwaveJobs, kShockwaveFrom},
                          {kSpeeds, kGavelData},
                          {kStreams, "generated as the program of the paper does"}},
                .make = make});
}

}  // namespace almanac::reproduce
