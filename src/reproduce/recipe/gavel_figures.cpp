// SPDX-License-Identifier: Apache-2.0

/// \file
/// Curves of Gavel's paper over the load of a cluster of three types of GPUs.
///
/// Source   Narayanan et al., OSDI'20, section 7. The figures come from an older version of the
///          program, 1.5 to 5 % off its last one: they are curves, not digits.
#include <map>

#include <fmt/format.h>

#include "gavel/rules.h"
#include "reproduce/gavel_data.h"
#include "reproduce/gavel_runs.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_gavel_figures(Recipes& registry);

namespace {

constexpr const char* kAlone = "data/elastic/gavel/simulation_alone.csv";
constexpr const char* kFigure = "golden/elastic/gavel/figure_single_gpu*.csv";
constexpr std::uint32_t kSeed = 0;

/// Runs by policy and load, each played once.
class Runs {
 public:
  Runs(const std::string& stream, const ModelSpeeds& speeds) : stream_(stream), speeds_(speeds) {}

  const gavel::Course& play(const std::string& policy, double per_hour) {
    const auto [run, is_new] = runs_.try_emplace({policy, per_hour});
    if (is_new) run->second = play_stream(stream_, speeds_, 3600 / per_hour, policy, kSeed);
    return run->second;
  }

  /// Mean over the measured jobs of the JCT relative to that in a cluster of 1 / n of the size.
  double finish_time_ratio(const std::string& policy, double per_hour) {
    std::map<int, double> alone_s;
    for (const gavel::Ended& job : play("isolated", per_hour).ended)
      alone_s[job.number] = job.jct_s;
    double sum = 0;
    int jobs = 0;
    for (const gavel::Ended& job : play(policy, per_hour).ended) {
      if (job.number < kMeasuredFrom || job.number >= kMeasuredUntil) continue;
      sum += job.jct_s / alone_s.at(job.number);
      ++jobs;
    }
    return sum / jobs;
  }

 private:
  std::string stream_;
  const ModelSpeeds& speeds_;
  std::map<std::pair<std::string, double>, gavel::Course> runs_;
};

void compare(Bench& bench, const File& file, Runs& runs) {
  Rows rows(file.path, {"metric", "jobs_per_hour", "policy", "mean"});
  while (rows.next()) {
    const std::string policy(rows.text("policy"));
    const double per_hour = rows.number("jobs_per_hour");
    const std::string_view metric = rows.text("metric");
    rows.require(per_hour > 0, "jobs_per_hour must be positive");
    rows.require(metric == "jct_h" || metric == "ftf", "the metric is neither jct_h nor ftf");
    const std::string what =
        fmt::format("{} {} at {} jobs an hour: {}", file.stem, policy, per_hour, metric);
    if (gavel::make_rule(policy, {}) == nullptr) {
      bench.note(fmt::format("{}: the policy is not played here", what));
    } else if (metric == "jct_h") {
      bench.add(what, rows.number("mean"), mean_jct_s(runs.play(policy, per_hour)) / 3600, "h");
    } else {
      bench.add(what, rows.number("mean"), runs.finish_time_ratio(policy, per_hour), "");
    }
  }
}

void make(Bench& bench) {
  ModelSpeeds speeds;
  bench.each(kAlone, [&](const File& file) { speeds = ModelSpeeds(file.path); });
  const Streams streams = find_streams(bench);
  bench.each(kFigure, [&](const File& file) {
    const auto stream = streams.find(kSeed);
    require(stream != streams.end(), fmt::format("there is no stream of seed {}", kSeed));
    Runs runs(stream->second, speeds);
    compare(bench, file, runs);
  });
}

}  // namespace

void register_gavel_figures(Recipes& registry) {
  registry.add({.name = "gavel-figures",
                .summary = "mean JCT and finish-time fairness over load, three types of GPUs",
                .paper = "Narayanan et al., OSDI'20, section 7",
                .needs = {{kAlone, kGavelData},
                          {kStreams, "generated as the program of the paper does"},
                          {kFigure, "figures of the paper's notebooks"}},
                .takes_minutes = true,
                .make = make});
}

}  // namespace almanac::reproduce
