// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of the gap between policy `almanac` and policies with true run times no predictor can
/// close.
///
/// Generated months are drawn from known distributions. Estimate `informed` gives each job the
/// distribution from which its run time was drawn: the habits of its user, recipe and session are
/// known, only the outcome of its own draw is not. No predictor can know more when a job is
/// submitted, so what is missing then is missing under every predictor.
///
/// The published column holds the multiple of the oracle's mean wait that the goal allows. The
/// figures hold for these orders, placements and passes: no best schedule is computed.
///
/// Source   ours; docs/evidence/policy.md lists the goals. Gittins' index with the true
///          distributions minimizes the mean wait on one machine (Aalto, Ayesta & Righter, Queueing
///          Systems 2009), not on several.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "policy/registry.h"
#include "predict/proven.h"
#include "reproduce/generated.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "trace/generate.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {

void register_policy_information(Recipes& registry);

namespace policy_information_recipe {
namespace {

/// Months on which a goal is missed, and the first of the evidence.
constexpr std::array<std::uint64_t, 5> kSeeds{1, 12, 14, 22, 23};

/// By job, of the month that is simulated.
trace::PossibleRuns g_possible;

class Informed final : public predict::Estimator {
 public:
  explicit Informed(const std::vector<trace::Job>& jobs) : jobs_(jobs) {}

  predict::Belief estimate(JobId job, const trace::Request& request) override {
    predict::Distribution made;
    const std::vector<std::uint32_t>& runs =
        g_possible[static_cast<std::size_t>(jobs_[index(job)].id) - 1];
    for (const std::uint32_t run_s : runs) {
      const double log = std::log10(std::max(1.0, static_cast<double>(run_s)));
      made.add_cell(predict::Distribution::cell_of(log), 1.0F);
    }
    made.normalize();
    return predict::belief_of(made, request.time_limit);
  }

 private:
  const std::vector<trace::Job>& jobs_;
};

void install_informed() {
  static const bool kInstalled = [] {
    policy::extend_registry([](policy::Registry& registry) {
      registry.estimates.add(
          {.name = "informed",
           .summary = "the distribution from which a generated run time was drawn",
           .source = "ours",
           .traits = {.has = {policy::Trait::told_truth}}},
          [](const policy::Parameters&,
             const policy::History& history) -> Result<std::unique_ptr<predict::Estimator>> {
            return std::make_unique<Informed>(history.log.jobs);
          });
    });
    return true;
  }();
  static_cast<void>(kInstalled);
}

constexpr const char* kNone = "almanac+preempt:none";
constexpr const char* kNoneUnbound = "almanac+preempt:none+bound:0";
constexpr const char* kNoneInformed = "almanac+informed+preempt:none+bound:0";
constexpr const char* kNoneOracle = "easy+gpu_time+best_fit+oracle";
constexpr const char* kAll = "almanac+preempt:all";
constexpr const char* kAllUnbound = "almanac+preempt:all+bound:0+patience_s:0";
constexpr const char* kAllInformed = "almanac+informed+preempt:all+bound:0+patience_s:0";
constexpr const char* kGittinsInformed = "gittins+best_fit+informed";
constexpr const char* kAllOracle = "srtf";

using Waits = std::map<std::string, double>;  // mean, in seconds

Waits simulate_month(std::uint64_t seed) {
  const cluster::Cluster cluster =
      value_or_throw(cluster::parse_toml(*trace::preset("venus_cluster"), "venus_cluster.toml"));
  trace::Trace trace = trace::generate(generated("venus"), seed, {}, &g_possible);
  experiment::Experiment experiment;
  experiment.policies = {kNone,       kNoneUnbound, kNoneInformed,    kNoneOracle, kAll,
                         kAllUnbound, kAllInformed, kGittinsInformed, kAllOracle};
  const experiment::Prepared prepared =
      value_or_throw(experiment::prepare(experiment, std::move(trace), cluster));
  std::vector<double> waits(prepared.runs.size());
  tbb::parallel_for(std::size_t{0}, waits.size(), [&](std::size_t run) {
    const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared, run));
    waits[run] = experiment::summarize(prepared.runs[run].composition, prepared.trace, schedule,
                                       prepared.power)
                     .avg_wait_s;
  });
  Waits made;
  for (std::size_t run = 0; run < waits.size(); ++run) {
    made[prepared.experiment.policies[run]] = waits[run];
  }
  return made;
}

void compare(Bench& bench) {
  install_informed();
  for (const std::uint64_t seed : to_play(kSeeds)) {
    const Waits waits = simulate_month(seed);
    for (const auto& [policy, wait_s] : waits) {
      bench.add(fmt::format("month {}, {}: mean wait", seed, policy),
                std::numeric_limits<double>::quiet_NaN(), wait_s, "s");
    }
    bench.add(
        fmt::format("month {}, no job may be stopped: {} / {}", seed, kNoneInformed, kNoneOracle),
        1.15, waits.at(kNoneInformed) / waits.at(kNoneOracle));
    const double informed = std::min(waits.at(kAllInformed), waits.at(kGittinsInformed));
    bench.add(fmt::format("month {}, all jobs may be stopped: the better of {} and {} / {}", seed,
                          kAllInformed, kGittinsInformed, kAllOracle),
              1.5, informed / waits.at(kAllOracle));
  }
  bench.note("published is the multiple of the oracle that the goal allows");
}

}  // namespace
}  // namespace policy_information_recipe

void register_policy_information(Recipes& registry) {
  using namespace policy_information_recipe;
  registry.add({.name = "policy-information",
                .summary = "what policy almanac could reach if it knew the distribution of each "
                           "run time",
                .paper = "ours; docs/evidence/policy.md",
                .kind = Kind::baseline,
                .takes_minutes = true,
                .make = compare});
}

}  // namespace almanac::reproduce
