// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's policies on the ordinary engine against their programs, which say which part of its time
/// each job runs on each type of GPU, and against the published simulator under the same rule.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "gavel/engine.h"
#include "gavel/rules.h"
#include "rules/timeshare/programs.h"
#include "support/play.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

const std::vector<std::string> kTypes{"K80", "P100", "V100"};
constexpr double kLease_s = 360;

/// How fast jobs of each model are on each type, beside a V100.
using Rates = std::vector<std::vector<double>>;

Rates random_rates(Rng& rng, int models) {
  Rates made;
  for (int model = 0; model < models; ++model) {
    const double p100 = 0.2 + 0.7 * rng.uniform();
    made.push_back({p100 * (0.2 + 0.7 * rng.uniform()), p100, 1});
  }
  return made;
}

class GavelOnTheEngine : public testing::Test {
 protected:
  /// A catalogue of models with those rates.
  std::string catalogue(const Rates& rates) {
    std::string text;
    for (std::size_t model = 0; model < rates.size(); ++model) {
      text += fmt::format("[[model]]\nname = 'm{}'\n", model);
      for (std::size_t type = 0; type < kTypes.size(); ++type) {
        text += fmt::format(
            "[[model.board]]\nsource = 'made up'\ngpu_type = '{}'\nfixed = {}\nsample = 0\n"
            "local = 0\nlocal_more = 0\nremote = 0\nremote_more = 0\nremote_spread = 0\n"
            "overlap = 1\nbatch = [1, 1]\ngpus = 16\n",
            kTypes[type], 1 / rates[model][type]);
      }
    }
    return folder_.write("rates.toml", text);
  }

  /// Most nodes have V100s: speeds are beside those of these.
  static int nodes_of(std::size_t type) { return kTypes[type] == "V100" ? 2 : 1; }

  /// `gpus`: of a node of each type.
  Case on(const std::vector<int>& gpus, const Rates& rates) {
    Case made;
    made.speed = catalogue(rates);
    made.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    made.cluster.takes_every_job = true;
    made.cluster.add_vc("all");
    for (std::size_t type = kTypes.size(); type-- > 0;) {
      made.cluster.add_nodes({.gpus = gpus[type], .gpu_type = kTypes[type]}, nodes_of(type));
    }
    return made;
  }

  /// Steps per second of each job from one time to another; a V100 makes one.
  static std::vector<double> rates_had(const Case& input, const Played& played, const Rates& rates,
                                       Time from, Time until) {
    std::vector<double> made(input.trace.jobs.size(), 0);
    for (const almanac::Run& run : played.runs) {
      const auto& make =
          input.cluster.classes[input.cluster.nodes[index(run.grants.front().node)].node_class];
      const auto type = std::find(kTypes.begin(), kTypes.end(), make.gpu_type) - kTypes.begin();
      const Duration ran = std::min(run.end, until) - std::max(run.start, from);
      if (ran <= Duration{0}) continue;
      made[index(run.job)] += seconds(ran) / seconds(until - from) *
                              rates[index(run.job) % rates.size()][static_cast<std::size_t>(type)];
    }
    return made;
  }

  TemporaryFolder folder_;
};

struct Objective {
  const char* policy;
  std::function<timeshare::Fractions(const timeshare::Problem&)> program;
};

/// Jobs of one GPU that come one after another, and then run on for long: what each makes is what
/// the program gives it, though it was divided anew for each that came.
TEST_F(GavelOnTheEngine, EachJobHasWhatTheProgramGivesIt) {
  const Objective objectives[] = {
      {"gavel:fairness", &timeshare::max_min_fairness},
      {"gavel:duration", &timeshare::min_total_duration},
      {"gavel:finish_time", &timeshare::finish_time_fairness},
  };
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed, 11);
    const Rates rates = random_rates(rng, 12);
    const std::vector<int> gpus{1 + static_cast<int>(rng.below(3)),
                                1 + static_cast<int>(rng.below(3)), 1};
    for (const Objective& objective : objectives) {
      const bool comes_late = std::string(objective.policy) == "gavel:fairness";
      Case input = on(gpus, rates);
      input.policy = objective.policy;
      timeshare::Problem problem;
      for (std::size_t type = 0; type < gpus.size(); ++type) {
        problem.gpus.push_back(gpus[type] * nodes_of(type));
      }
      for (int job = 0; job < 12; ++job) {
        add_job(input.trace, {.id = std::to_string(job),
                              .submit = comes_late ? job * 700s : 0s,
                              .gpus = 1,
                              .run = 1'000'000s,
                              .model = fmt::format("m{}", job)});
        problem.jobs.push_back(
            {.rates = rates[static_cast<std::size_t>(job)], .steps_left = 1'000'000});
      }
      const Result<Played> played = play(input);
      ASSERT_TRUE(played) << to_string(played.error());
      const Time from{comes_late ? 12'000s : 0s};
      const std::vector<double> had =
          rates_had(input, *played, rates, from, from + 300 * Duration{360s});
      const timeshare::Fractions due = objective.program(problem);
      for (std::size_t job = 0; job < had.size(); ++job) {
        const double wanted = timeshare::effective_rate(problem.jobs[job], due[job]);
        EXPECT_GE(had[job], 0.95 * wanted)
            << objective.policy << " seed " << seed << " job " << job;
      }
    }
  }
}

/// A stream of jobs, some of which wait: mean times are those of the published simulator under the
/// same rule. It starts jobs at rounds only, and leaves those that came since its last program
/// without GPUs, so ours are shorter, but not by more than that.
TEST_F(GavelOnTheEngine, MeanTimesAreThoseOfThePublishedSimulator) {
  Rng rng(5, 12);
  const Rates rates = random_rates(rng, 6);
  const std::vector<int> gpus{4, 4, 2};
  Case input = on(gpus, rates);
  input.policy = "gavel:fairness";
  gavel::Speeds speeds{.alone = rates};
  std::vector<gavel::Job> jobs;
  double now_s = 0;
  for (int job = 0; job < 200; ++job) {
    now_s += std::floor(-std::log(1 - rng.uniform()) * 2'200);
    const double run_s = std::floor(1'800 + 14'400 * rng.uniform());
    const auto kind = static_cast<std::size_t>(job) % rates.size();
    jobs.push_back({.number = job, .kind = kind, .steps = run_s, .arrival_s = now_s});
    add_job(input.trace, {.id = std::to_string(job),
                          .submit = static_cast<std::int64_t>(now_s) * 1s,
                          .gpus = 1,
                          .run = static_cast<std::int64_t>(run_s) * 1s,
                          .model = fmt::format("m{}", kind)});
  }
  const auto rule = gavel::make_rule("max_min_fairness_perf", {});
  const gavel::Course course = gavel::play({.types = {"k80", "p100", "v100"}, .gpus = {4, 4, 4}},
                                           speeds, jobs, *rule, {.round_s = kLease_s});
  double published_s = 0;
  for (const gavel::Ended& job : course.ended) published_s += job.jct_s;
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  double ours_s = 0;
  for (std::size_t job = 0; job < played->result.jobs.size(); ++job) {
    ours_s += seconds(played->result.jobs[job].end - input.trace.jobs[job].request.submit);
  }
  EXPECT_EQ(course.ended.size(), played->result.jobs.size());
  EXPECT_LE(ours_s, published_s * 1.05);
  EXPECT_GE(ours_s, published_s * 0.85);
  RecordProperty("ours_s", std::to_string(ours_s / 200));
  RecordProperty("published_s", std::to_string(published_s / 200));
}

}  // namespace
}  // namespace almanac
