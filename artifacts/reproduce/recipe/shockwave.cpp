// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shockwave's published simulator: jobs whose batch grows, under the policies that it is compared
/// with.
///
/// Source   Zheng et al., Shockwave: Fair and Efficient Cluster Scheduling for Dynamic Adaptation
///          in Machine Learning, NSDI'23, and its program.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "reproduce/shockwave_runs.h"

namespace almanac::reproduce {

void register_shockwave(Recipes& registry);

namespace shockwave_recipe {
namespace {

constexpr const char* kRounds = "golden/elastic/shockwave/*rounds.csv";
constexpr double kEqual = 1e-6;
/// A job above it is said to be treated unfairly.
constexpr double kUnfair = 1.05;

struct Published {
  int job = 0;
  double jct_s = 0;
  double fixed = 0;    ///< Finish-time fairness against a share of the cluster for all jobs.
  double varying = 0;  ///< Against one for the jobs there were.
};

double to_five_places(double value) { return std::round(value * 1e5) / 1e5; }

void compare(Bench& bench, const std::string& what, const std::vector<Published>& published,
             const Workload& workload, const gavel::Course& course, int gpus) {
  std::map<int, gavel::Ended> ended;
  for (const gavel::Ended& job : course.ended) ended[job.number] = job;
  const auto jobs = static_cast<double>(published.size());
  double equal = 0;
  double fixed = 0;
  double varying = 0;
  double sum = 0;
  double our_sum = 0;
  double last = 0;
  double our_last = 0;
  double worst = 0;
  double our_worst = 0;
  double unfair = 0;
  double our_unfair = 0;
  for (const Published& job : published) {
    const auto mine = ended.find(job.job);
    const auto told = workload.regimes.find(job.job);
    if (mine == ended.end() || told == workload.regimes.end()) continue;
    const double jct_s = mine->second.jct_s;
    const double alone_s = told->second.exclusive_s;
    equal += std::fabs(jct_s - job.jct_s) <= kEqual * job.jct_s ? 1 : 0;
    const double ratio =
        to_five_places(static_fairness(jct_s, alone_s, workload.jobs.size(), gpus));
    fixed += std::fabs(ratio - job.fixed) < 2e-5 ? 1 : 0;
    worst = std::max(worst, job.fixed);
    our_worst = std::max(our_worst, ratio);
    unfair += job.fixed > kUnfair ? 1 : 0;
    our_unfair += ratio > kUnfair ? 1 : 0;
    const double then =
        to_five_places(jct_s / (alone_s * std::max(1.0, mine->second.mean_active / gpus)));
    varying += std::fabs(then - job.varying) < 2e-5 ? 1 : 0;
    sum += job.jct_s;
    our_sum += jct_s;
    last = std::max(last, mine->second.arrival_s + job.jct_s);
    our_last = std::max(our_last, mine->second.arrival_s + jct_s);
  }
  bench.add(what + ": jobs with the same JCT", jobs, equal, "jobs");
  bench.add(what + ": jobs with the same static fairness", jobs, fixed, "jobs");
  bench.add(what + ": jobs with the same Themis fairness", jobs, varying, "jobs");
  bench.add(what + ": mean JCT", sum / jobs, our_sum / jobs, "s");
  bench.add(what + ": makespan", last, our_last, "s");
  bench.add(what + ": worst static fairness", worst, our_worst, "");
  bench.add(what + ": jobs with a static fairness above 1.05", unfair, our_unfair, "jobs");
}

void compare_jobs(Bench& bench, const File& file, ShockwaveRuns& runs) {
  std::map<std::pair<std::string, std::string>, std::vector<Published>> printed;
  Rows rows(file.path, {"set", "policy", "job", "jct_s", "ftf_static", "ftf_themis"});
  while (rows.next()) {
    if (rows.has("kind") && rows.text("kind") != "simulation") continue;
    printed[{std::string(rows.text("set")), std::string(rows.text("policy"))}].push_back(
        {static_cast<int>(rows.whole("job")), rows.number("jct_s"), rows.number("ftf_static"),
         rows.number("ftf_themis")});
  }
  for (const auto& [run, published] : printed) {
    const auto& [name, policy] = run;
    const Set set = set_of(name);
    const gavel::Course* const course = runs.play(set, policy);
    if (course == nullptr) {
      bench.note(fmt::format("{} {} {}: not played here", file.stem, name, policy));
      continue;
    }
    compare(bench, fmt::format("{} {} {}", file.stem, name, policy), published, runs.workload(set),
            *course, set.gpus);
  }
}

/// Every job of every round, with the numbers of its GPUs.
void compare_rounds(Bench& bench, const File& file, ShockwaveRuns& runs) {
  std::map<std::string, std::map<std::pair<int, int>, std::string>> published;
  Rows rows(file.path, {"policy", "round", "job", "gpus"});
  while (rows.next()) {
    published[std::string(rows.text("policy"))]
             [{static_cast<int>(rows.whole("round")), static_cast<int>(rows.whole("job"))}] =
                 rows.text("gpus");
  }
  const Set set = set_of(file.stem);
  for (const auto& [policy, held] : published) {
    const gavel::Course* const course = runs.play(set, policy);
    if (course == nullptr) {
      bench.note(fmt::format("{} {}: not played here", file.stem, policy));
      continue;
    }
    const std::string what = fmt::format("{} {}", file.stem, policy);
    double equal = 0;
    bool differs = false;
    for (const gavel::Ran& ran : course->ran) {
      const auto found = held.find({ran.round, ran.number});
      const std::string gpus = fmt::format("{}", fmt::join(ran.gpus, " "));
      if (found != held.end() && found->second == gpus) {
        ++equal;
      } else if (!std::exchange(differs, true)) {
        bench.note(fmt::format(
            "{}: job {} of round {} is the first that differs, on GPUs {} and not {}", what,
            ran.number, ran.round, gpus, found == held.end() ? "at all" : found->second));
      }
    }
    bench.add(what + ": jobs of rounds on the same GPUs", static_cast<double>(held.size()), equal,
              "");
    bench.add(what + ": jobs of rounds", static_cast<double>(held.size()),
              static_cast<double>(course->ran.size()), "");
  }
}

void make(Bench& bench) {
  ShockwaveRuns runs;
  bench.each(kShockwaveSpeeds, [&](const File& file) { runs.read_speeds(file); });
  bench.each(kShockwavePatterns, [&](const File& file) { runs.read_patterns(file); });
  bench.each(kShockwaveTraces, [&](const File& file) { runs.read_traces(file); });
  bench.each(kShockwaveJobs, [&](const File& file) { compare_jobs(bench, file, runs); });
  bench.each(kRounds, [&](const File& file) { compare_rounds(bench, file, runs); });
}

}  // namespace
}  // namespace shockwave_recipe

void register_shockwave(Recipes& registry) {
  using namespace shockwave_recipe;
  registry.add({.name = "shockwave",
                .summary = "jobs whose batch grows, under the policies Shockwave is compared with",
                .paper = "Zheng et al., NSDI'23",
                .kind = Kind::rerun,
                .needs = {{kShockwaveTraces, kShockwaveFrom},
                          {kShockwaveSpeeds, kShockwaveFrom},
                          {kShockwavePatterns, kShockwaveFrom},
                          {kShockwaveJobs, kShockwaveFrom},
                          {kRounds, kShockwaveFrom}},
                .make = make});
}

}  // namespace almanac::reproduce
