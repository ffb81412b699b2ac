// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policy `almanac` against its goals: on public logs and on months of the preset `venus` of three
/// seeds at three loads, where no job may be stopped, where all may be, where half may be, with a
/// model that was trained on wrong run times, and with wrong predictions in the log.
///
/// The published column holds the most that a goal allows: a multiple of a rival's figure on the
/// same log.
///
/// Source   ours; docs/evidence/policy.md lists the goals.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "base/rng.h"
#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "predict/learned.h"
#include "predict/replay.h"
#include "reproduce/generated.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "trace/generate.h"
#include "trace/mark_requeue.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {

void register_policy(Recipes& registry);

namespace policy_recipe {
namespace {

constexpr const char* kVenus = "data/traces/helios_venus_gpu_*.csv";
constexpr const char* kPhilly = "data/traces/philly_20*.csv";
constexpr const char* kTacc = "data/traces/tacc_*.csv";
constexpr const char* kOpenb = "data/traces/alibaba_openb_2023/openb_pod_list_default.csv";
constexpr const char* kOpenbNodes = "openb_node_list_gpu_node.csv";

constexpr std::array<std::uint64_t, 3> kSeeds{1, 2, 3};
constexpr std::array<double, 3> kLoads{0.8, 1, 1.2};

constexpr const char* kWithoutStops = "almanac+preempt:none";
constexpr const char* kWithStops = "almanac+preempt:all";
constexpr const char* kMarked = "almanac";
constexpr const char* kGiven = "almanac+given+preempt:none";
constexpr const char* kOracle = "easy+gpu_time+best_fit+oracle";
/// Policies without stops that a site can run today.
const std::vector<std::string> kRivals{"easy", "easy+gpu_time+best_fit", "qssf+easy:1"};

/// Of one policy on one log.
struct Figures {
  double mean_wait_s = 0;
  double p99_jct_s = 0;
  double worst_user_s = 0;  ///< Mean wait of the user who waits longest.
  double stops = 0;         ///< Per job.
};
using ByPolicy = std::map<std::string, Figures>;

class Comparison {
 public:
  Comparison(Bench& bench, std::string log, experiment::Prepared prepared)
      : bench_(bench), log_(std::move(log)), prepared_(std::move(prepared)) {}

  void judge_all() {
    const ByPolicy none = play({kWithoutStops, "easy", kRivals[1], kRivals[2], kOracle});
    judge_without_stops(none);
    const ByPolicy all = play({kWithStops, "gittins", "las", "srtf"});
    judge_with_stops(all);
    judge_half(none.at(kWithoutStops), all.at(kWithStops));
    judge_wrong_predictions(none.at("easy"));
  }

 private:
  /// Simulates policies of the run. Cost: seconds each, side by side.
  ByPolicy play(const std::vector<std::string>& policies) const {
    std::vector<Figures> played(policies.size());
    tbb::parallel_for(std::size_t{0}, policies.size(), [&](std::size_t at) {
      const std::vector<std::string>& known = prepared_.experiment.policies;
      const auto run = static_cast<std::size_t>(
          std::find(known.begin(), known.end(), policies[at]) - known.begin());
      const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared_, run));
      const experiment::Summary summary = experiment::summarize(
          prepared_.runs[run].composition, prepared_.trace, schedule, prepared_.power);
      played[at] = {
          .mean_wait_s = summary.avg_wait_s,
          .p99_jct_s = summary.p99_jct_s,
          .worst_user_s = summary.worst_user_avg_wait_s,
          .stops = static_cast<double>(summary.preemptions) / static_cast<double>(summary.jobs)};
    });
    ByPolicy made;
    for (std::size_t at = 0; at < policies.size(); ++at) made[policies[at]] = played[at];
    return made;
  }

  void judge_without_stops(const ByPolicy& runs) {
    const std::string mode = "no job may be stopped";
    const Figures& ours = runs.at(kWithoutStops);
    const auto rival = *std::min_element(
        kRivals.begin(), kRivals.end(), [&](const std::string& one, const std::string& other) {
          return runs.at(one).mean_wait_s < runs.at(other).mean_wait_s;
        });
    judge(mode, fmt::format("mean wait, 1.15 x {}", kOracle), 1.15 * runs.at(kOracle).mean_wait_s,
          ours.mean_wait_s, "s");
    judge(mode, fmt::format("mean wait, best deployable rival {}", rival),
          runs.at(rival).mean_wait_s, ours.mean_wait_s, "s");
    judge(mode, "p99 completion, easy", runs.at("easy").p99_jct_s, ours.p99_jct_s, "s");
    judge(mode, "worst user's mean wait, easy", runs.at("easy").worst_user_s, ours.worst_user_s,
          "s");
    show(mode, runs);
  }

  void judge_with_stops(const ByPolicy& runs) {
    const std::string mode = "all jobs may be stopped";
    const Figures& ours = runs.at(kWithStops);
    judge(mode, "mean wait, 1.5 x srtf (oracle)", 1.5 * runs.at("srtf").mean_wait_s,
          ours.mean_wait_s, "s");
    const std::string rival =
        runs.at("las").mean_wait_s < runs.at("gittins").mean_wait_s ? "las" : "gittins";
    judge(mode, fmt::format("mean wait, best deployable rival {}", rival),
          runs.at(rival).mean_wait_s, ours.mean_wait_s, "s");
    judge(mode, "worst user's mean wait, half of gittins'", runs.at("gittins").worst_user_s / 2,
          ours.worst_user_s, "s");
    judge(mode, "stops per job", 0.15, ours.stops, "");
    show(mode, runs);
  }

  /// One half of the jobs says yes, the other no: the rivals stop no others either.
  void judge_half(const Figures& none, const Figures& all) {
    trace::mark_requeue(prepared_.trace, 0.5, 1);
    for (trace::Job& job : prepared_.trace.jobs) {
      if (job.request.requeue != trace::Requeue::yes) job.request.requeue = trace::Requeue::no;
    }
    const std::string mode = "half of the jobs may be stopped";
    const ByPolicy runs = play({kMarked, "gittins", "las"});
    judge(mode, "mean wait, midpoint of none and all", (none.mean_wait_s + all.mean_wait_s) / 2,
          runs.at(kMarked).mean_wait_s, "s");
    show(mode, runs);
    trace::mark_requeue(prepared_.trace, 0, 1);
  }

  void judge_wrong_predictions(const Figures& easy) {
    std::vector<Duration> shortest_first;
    for (const trace::Job& job : prepared_.trace.jobs) shortest_first.push_back(job.outcome.run);
    std::sort(shortest_first.begin(), shortest_first.end());
    const auto judge_with = [&](const char* wrong, const std::vector<Duration>& predicted) {
      prepared_.model = model_of(predicted);
      const ByPolicy runs = play({kWithoutStops});
      prepared_.model = nullptr;
      const std::string mode = fmt::format("no job may be stopped, model of run times {}", wrong);
      judge(mode, "mean wait, 1.05 x easy", 1.05 * easy.mean_wait_s,
            runs.at(kWithoutStops).mean_wait_s, "s");
      show(mode, runs);
      judge_given(wrong, predicted, easy);
    };
    std::vector<Duration> drawn = shortest_first;
    Rng rng(1);
    for (std::size_t left = drawn.size(); left > 1; --left) {
      std::swap(drawn[left - 1], drawn[rng.below(left)]);
    }
    judge_with("drawn at random", drawn);
    judge_with("reversed", reversed(shortest_first));
    const Duration sum = std::accumulate(shortest_first.begin(), shortest_first.end(), Duration{0});
    judge_with("constant",
               std::vector<Duration>(shortest_first.size(),
                                     sum / static_cast<Duration::rep>(shortest_first.size())));
  }

  void judge_given(const char* wrong, const std::vector<Duration>& predicted, const Figures& easy) {
    for (std::size_t at = 0; at < predicted.size(); ++at) {
      prepared_.trace.jobs[at].request.predicted = predicted[at];
    }
    const ByPolicy runs = play({kGiven});
    const std::string mode = fmt::format("no job may be stopped, predicted run times {}", wrong);
    judge(mode, "mean wait, 1.05 x easy", 1.05 * easy.mean_wait_s, runs.at(kGiven).mean_wait_s,
          "s");
    show(mode, runs);
  }

  /// A model that was trained on this log with other run times.
  std::shared_ptr<const predict::StoredModel> model_of(
      const std::vector<Duration>& run_times) const {
    std::vector<trace::Job> jobs = prepared_.trace.jobs;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      jobs[at].outcome.run = std::max<Duration>(1s, run_times[at]);
    }
    predict::Learned learned(prepared_.trace.names);
    predict::teach(learned, jobs);
    constexpr std::size_t kMost = 20'000;
    const std::span<const predict::Example> ended = learned.examples().all();
    if (ended.size() < predict::Model::kFewest) return nullptr;
    return std::make_shared<const predict::StoredModel>(predict::StoredModel{
        .model = predict::Model::fit(ended.last(std::min(ended.size(), kMost)), {}),
        .training = {.jobs = static_cast<std::int64_t>(jobs.size())},
        .history = learned.memory().ended_so_far()});
  }

  /// Predicts the longest run time for the shortest job, and so on.
  std::vector<Duration> reversed(const std::vector<Duration>& shortest_first) const {
    const std::vector<trace::Job>& jobs = prepared_.trace.jobs;
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
      return jobs[one].outcome.run < jobs[other].outcome.run;
    });
    std::vector<Duration> predicted(jobs.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      predicted[order[rank]] = shortest_first[order.size() - 1 - rank];
    }
    return predicted;
  }

  void judge(const std::string& mode, const std::string& goal, double most, double ours,
             const std::string& unit) {
    std::string verdict = "reached";
    if (ours > most) {
      verdict = most > 0 ? fmt::format("not reached: {:.0f} % above", 100 * (ours / most - 1))
                         : "not reached";
    }
    bench_.add({.what = fmt::format("{}, {}: {}", log_, mode, goal),
                .published = most,
                .ours = ours,
                .unit = unit,
                .remark = verdict});
  }

  /// Adds the figures of all policies, as findings.
  void show(const std::string& mode, const ByPolicy& runs) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [policy, figures] : runs) {
      const std::string what = fmt::format("{}, {}, {}: ", log_, mode, policy);
      bench_.add(what + "mean wait", kNone, figures.mean_wait_s, "s");
      bench_.add(what + "p99 completion", kNone, figures.p99_jct_s, "s");
      bench_.add(what + "worst user's mean wait", kNone, figures.worst_user_s, "s");
      bench_.add(what + "stops per job", kNone, figures.stops);
    }
  }

  Bench& bench_;
  std::string log_;
  experiment::Prepared prepared_;
};

/// Prepares runs of all policies on a log.
experiment::Prepared prepared(trace::Trace trace, cluster::Cluster cluster, double load) {
  experiment::Experiment experiment;
  experiment.policies = {kWithoutStops, kWithStops, kMarked, kGiven,
                         kOracle,       "gittins",  "las",   "srtf"};
  experiment.policies.insert(experiment.policies.end(), kRivals.begin(), kRivals.end());
  experiment.load = load;
  // Each job must have a prediction; judge_given() replaces it.
  for (trace::Job& job : trace.jobs) job.request.predicted = job.outcome.run;
  return value_or_throw(experiment::prepare(experiment, std::move(trace), std::move(cluster)));
}

void compare_log(Bench& bench, const std::string& name, const File& log,
                 const std::string& nodes = "") {
  experiment::Experiment reading;
  reading.trace = log.path;
  reading.cluster = nodes;
  reading.policies = {"easy"};
  experiment::Prepared read = value_or_throw(experiment::prepare(reading));
  Comparison(bench, name, prepared(std::move(read.trace), std::move(read.cluster), 1)).judge_all();
}

void compare_month(Bench& bench, std::uint64_t seed, double load) {
  const cluster::Cluster cluster =
      value_or_throw(cluster::parse_toml(*trace::preset("venus_cluster"), "venus_cluster.toml"));
  trace::Trace trace = trace::generate(generated("venus"), seed);
  Comparison(bench, fmt::format("month {} at load {}", seed, load),
             prepared(std::move(trace), cluster, load))
      .judge_all();
}

void compare(Bench& bench) {
  bench.each(kVenus, [&](const File& file) { compare_log(bench, "Venus", file); });
  bench.each(kPhilly, [&](const File& file) { compare_log(bench, "Philly", file); });
  bench.each(kTacc, [&](const File& file) { compare_log(bench, "TACC", file); });
  bench.each(kOpenb, [&](const File& file) {
    compare_log(bench, "openb", file, bench.beside(file, kOpenbNodes).path);
  });
  for (const std::uint64_t seed : to_play(kSeeds)) {
    for (const double load : to_play(kLoads)) compare_month(bench, seed, load);
  }
  bench.note("published is the most that the goal allows; the remark says whether it is reached");
}

}  // namespace
}  // namespace policy_recipe

void register_policy(Recipes& registry) {
  using namespace policy_recipe;
  registry.add({.name = "policy",
                .summary = "policy almanac against its goals, on public logs and generated months",
                .paper = "ours; docs/evidence/policy.md",
                .kind = Kind::baseline,
                .needs = {{kVenus, "the GPU jobs of github.com/S-Lab-System-Group/HeliosData"},
                          {kPhilly, "the jobs of github.com/msr-fiddle/philly-traces"},
                          {kTacc, "accounting of the A100 nodes of TACC's Lonestar6"},
                          {kOpenb, "cluster-trace-gpu-v2023 of github.com/alibaba/clusterdata"}},
                .takes_minutes = true,
                .make = compare});
}

}  // namespace almanac::reproduce
