// SPDX-License-Identifier: Apache-2.0

/// \file
/// Curves of Gavel's paper over the load of a cluster of three types of GPUs.
///
/// Source   Narayanan et al., OSDI'20, section 7. The figures come from an older version of the
///          program, 1.5 to 5 % off its last one: they are curves, not digits.
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "gavel/rules.h"
#include "reproduce/gavel_data.h"
#include "reproduce/gavel_runs.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_gavel_figures(Recipes& registry);

namespace gavel_figures_recipe {
namespace {

constexpr const char* kAlone = "data/elastic/gavel/simulation_alone.csv";
constexpr const char* kPairs = "data/profiles/gavel/simulation_throughputs.json";
constexpr const char* kFigure = "golden/elastic/gavel/figure_single_gpu*.csv";
constexpr const char* kMakespans = "golden/elastic/gavel/figure_makespan*.csv";
constexpr const char* kGangs = "data/elastic/gavel/continuous_multi_gpu_seed0.csv";
constexpr std::uint32_t kSeed = 0;

/// Runs by policy and load, each played once.
class Runs {
 public:
  Runs(const std::string& stream, const ModelSpeeds& speeds) : stream_(stream), speeds_(speeds) {}

  const StreamCourse& play(const std::string& policy, double per_hour) {
    const auto [run, is_new] = runs_.try_emplace({policy, per_hour});
    if (is_new) run->second = play_stream(stream_, speeds_, 3600 / per_hour, policy, kSeed);
    return run->second;
  }

  /// Mean over the measured jobs of the JCT relative to that in a cluster of 1 / n of the size.
  double finish_time_ratio(const std::string& policy, double per_hour) {
    std::map<int, double> alone_s;
    for (const gavel::Ended& job : play("isolated", per_hour).course.ended)
      alone_s[job.number] = job.jct_s;
    double sum = 0;
    int jobs = 0;
    for (const gavel::Ended& job : play(policy, per_hour).course.ended) {
      if (job.number < kMeasuredFrom || job.number >= kMeasuredUntil) continue;
      const auto alone = alone_s.find(job.number);
      if (alone == alone_s.end()) continue;
      sum += job.jct_s / alone->second;
      ++jobs;
    }
    return sum / jobs;
  }

 private:
  std::string stream_;
  const ModelSpeeds& speeds_;
  std::map<std::pair<std::string, double>, StreamCourse> runs_;
};

void compare(Bench& bench, const File& file, const ModelSpeeds& speeds, Runs& runs) {
  Rows rows(file.path, {"metric", "jobs_per_hour", "policy", "mean"});
  while (rows.next()) {
    const std::string policy(rows.text("policy"));
    const double per_hour = rows.number("jobs_per_hour");
    const std::string_view metric = rows.text("metric");
    rows.require(per_hour > 0, "jobs_per_hour must be positive");
    rows.require(metric == "jct_h" || metric == "ftf", "the metric is neither jct_h nor ftf");
    const std::string what =
        fmt::format("{} {} at {} jobs an hour: {}", file.stem, policy, per_hour, metric);
    if (gavel::make_rule(policy, {.speeds = &speeds.speeds()}) == nullptr) {
      bench.note(fmt::format("{}: the policy is not played here", what));
    } else if (metric == "jct_h") {
      bench.add(mean_row(what, rows.number("mean"), runs.play(policy, per_hour), "h", 3600));
    } else {
      const double ratio = runs.finish_time_ratio(policy, per_hour);
      bench.add({.what = what,
                 .published = rows.number("mean"),
                 .ours = ratio,
                 .remark = std::isnan(ratio)
                               ? "no result: no measured job ended both here and alone"
                               : runs.play(policy, per_hour).remark});
    }
  }
}

/// The figure's names of what is played here. Its FIFO is an older one, and its Gavel "w/ SS" lays
/// pairs into the program of makespans, which none here does.
const std::map<std::string, std::string, std::less<>>& makespan_policies() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"Gandiva", "gandiva"}, {"Gavel", "min_total_duration_perf"}};
  return all;
}

/// The first jobs of a stream, all submitted at once.
void compare_makespans(Bench& bench, const File& file, const std::string& stream,
                       const ModelSpeeds& speeds) {
  std::vector<gavel::Job> all = read_stream(stream, speeds, 0);
  gavel::Cluster cluster{.types = speeds.types(), .gpus = {}};
  cluster.gpus.assign(cluster.types.size(), kEachType);
  std::set<std::string, std::less<>> not_played;
  Rows rows(file.path, {"policy", "jobs", "makespan_h"});
  while (rows.next()) {
    const auto policy = makespan_policies().find(rows.text("policy"));
    if (policy == makespan_policies().end()) {
      not_played.emplace(rows.text("policy"));
      continue;
    }
    const std::int64_t count = rows.whole("jobs");
    rows.require(count > 0 && count <= static_cast<std::int64_t>(all.size()), "no so many jobs");
    const std::vector<gavel::Job> jobs(all.begin(), all.begin() + count);
    const auto rule = gavel::make_rule(policy->second, {.seed = kSeed, .speeds = &speeds.speeds()});
    const gavel::Course course =
        gavel::play(cluster, speeds.speeds(), jobs, *rule, {.seed = kSeed});
    bench.add(fmt::format("{} {} of {} jobs", file.stem, policy->first, count),
              rows.number("makespan_h"), course.end_s / 3600, "h");
  }
  for (const std::string& policy : not_played) {
    bench.note(fmt::format("{} {}: not played here", file.stem, policy));
  }
}

void make(Bench& bench) {
  ModelSpeeds speeds;
  bench.each(kAlone, [&](const File& file) { speeds = ModelSpeeds(file.path); });
  bench.each(kPairs, [&](const File& file) { speeds.add_pairs(read_json(file)); });
  std::string gangs;
  bench.each(kGangs, [&](const File& file) { gangs = file.path; });
  bench.each(kMakespans, [&](const File& file) { compare_makespans(bench, file, gangs, speeds); });
  const Streams streams = find_streams(bench);
  bench.each(kFigure, [&](const File& file) {
    const auto stream = streams.find(kSeed);
    require(stream != streams.end(), fmt::format("there is no stream of seed {}", kSeed));
    Runs runs(stream->second, speeds);
    compare(bench, file, speeds, runs);
  });
}

}  // namespace
}  // namespace gavel_figures_recipe

void register_gavel_figures(Recipes& registry) {
  using namespace gavel_figures_recipe;
  registry.add(
      {.name = "gavel-figures",
       .summary = "mean JCT, finish-time fairness and makespan over load, three types of GPUs",
       .paper = "Narayanan et al., OSDI'20, section 7",
       .kind = Kind::figure,
       .needs = {{kAlone, kGavelData},
                 {kPairs, kGavelData},
                 {kStreams, "generated as the program of the paper does"},
                 {kGangs, "generated as the program of the paper does"},
                 {kMakespans, "figures of the paper's notebooks"},
                 {kFigure, "figures of the paper's notebooks"}},
       .takes_minutes = true,
       .make = make});
}

}  // namespace almanac::reproduce
