// SPDX-License-Identifier: Apache-2.0
#include "trace/fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "stats/correlation.h"
#include "stats/quantile.h"
#include "stats/share.h"
#include "trace/generate.h"
#include "trace/read.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::trace {
namespace {

/// What a log and its likeness are compared by.
struct Portrait {
  std::vector<double> runs;
  double top_tenth = 0;  // of the users, of the jobs
  double repeats = 0;    // how well the last runs of user, name and size predict GPU time
};

Portrait portrait(const Trace& trace) {
  Portrait made;
  std::map<NameId, double> jobs;
  std::map<std::tuple<NameId, NameId, int>, std::deque<double>> history;
  std::vector<double> predicted;
  std::vector<double> truth;
  for (const Job& job : trace.jobs) {
    if (job.request.gpus <= 0) continue;
    const double run = seconds(job.outcome.run);
    made.runs.push_back(run);
    if (job.request.user == kNoName) continue;
    jobs[job.request.user] += 1;
    auto& last = history[{job.request.user, job.request.name, job.request.gpus}];
    if (!last.empty()) {
      std::vector<double> scratch(last.begin(), last.end());
      predicted.push_back(stats::quantile(scratch, 0.5) * job.request.gpus);
      truth.push_back(run * job.request.gpus);
    }
    last.push_back(run);
    if (last.size() > 10) last.pop_front();
  }
  std::vector<double> counts;
  for (const auto& [user, count] : jobs) counts.push_back(count);
  made.top_tenth = stats::top_share(counts, 0.1);
  made.repeats = stats::spearman(predicted, truth);
  return made;
}

Workload venus() { return parse_workload(*preset("venus"), "venus.toml").value(); }

TEST(Fit, GivesBackTheMarginsOfAGeneratedLog) {
  const Workload truth = venus();
  const auto found = fit(generate(truth, 7));
  ASSERT_TRUE(found);
  const Workload& learnt = found->workload;
  EXPECT_EQ(learnt.span.jobs, 24000);
  EXPECT_NEAR(learnt.span.days, 30, 0.1);
  ASSERT_EQ(learnt.size.size(), truth.size.size());
  for (std::size_t i = 0; i < truth.size.size(); ++i) {
    EXPECT_EQ(learnt.size[i].gpus, truth.size[i].gpus);
    EXPECT_NEAR(learnt.size[i].jobs / 24000, truth.size[i].jobs / 125299, 0.005);
  }
  // A month has 100 to 1,600 jobs an hour of day, in sessions of about 4: 2 / sqrt(300) of it.
  double all = 0;
  double all_learnt = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    all += truth.rhythm.hours[i];
    all_learnt += learnt.rhythm.hours[i];
  }
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_NEAR(learnt.rhythm.hours[i] / all_learnt, truth.rhythm.hours[i] / all, 0.015) << i;
  }
  EXPECT_NEAR(learnt.session.serial, truth.session.serial, 0.06);
  EXPECT_NEAR(std::log(learnt.session.gap_s / truth.session.gap_s), 0, 0.25);
  EXPECT_NEAR(learnt.session.tail, truth.session.tail, 0.25);
  EXPECT_NEAR(learnt.recipe.user_part, truth.recipe.user_part, 0.1);
}

TEST(Fit, MakesALogThatLooksLikeItsModel) {
  const Trace model = generate(venus(), 7);
  const Portrait wanted = portrait(model);
  const Portrait found = portrait(generate(fit(model).value().workload, 1));
  for (const double q : {0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
    std::vector<double> a = wanted.runs;
    std::vector<double> b = found.runs;
    // Even inside an octave is not how the model is: 5 %.
    EXPECT_NEAR(stats::quantile(b, q), stats::quantile(a, q), 0.05 * stats::quantile(a, q) + 1)
        << q;
  }
  EXPECT_NEAR(found.top_tenth, wanted.top_tenth, 0.1);
  EXPECT_NEAR(found.repeats, wanted.repeats, 0.12);
}

TEST(Fit, InventsUsersAndVcsWhereTheLogHasNone) {
  Trace log = generate(stretched(venus(), 2000), 1);
  for (Job& job : log.jobs) {
    job.request.user = kNoName;
    job.request.vc = kNoName;
    job.request.name = kNoName;
  }
  const auto found = fit(log);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->workload.vc.size(), 1U);
  EXPECT_EQ(found->workload.vc[0].name, "none");
  EXPECT_EQ(found->workload.vc[0].users, 20);
  EXPECT_TRUE(check(found->workload).has_value());
  EXPECT_EQ(found->notes.size(), 4U);
  EXPECT_EQ(found->notes[2], "the log names no virtual clusters: one is created");
}

TEST(Fit, RefusesALogWithoutGpuJobs) {
  Trace log;
  log.path = "empty.csv";
  const auto found = fit(log);
  ASSERT_FALSE(found);
  EXPECT_EQ(to_string(found.error()),
            "empty.csv: a log to learn from needs at least 2 GPU jobs, but has 0");
}

/// Logs of real clusters, which are not part of the project.
class FitReal : public testing::TestWithParam<const char*> {};

TEST_P(FitReal, MakesALikeness) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  const std::string path = std::string(source != nullptr ? source : ".") +
                           "/../shared/data/traces/" + GetParam() + ".csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no real log at " << path;
  const auto log = read_trace(path, {.lenient = true});
  ASSERT_TRUE(log) << to_string(log.error());
  const auto learnt = fit(*log);
  ASSERT_TRUE(learnt) << to_string(learnt.error());
  const Portrait wanted = portrait(*log);
  // What users do again and how a few of them share out the work depends on the seed: the mean.
  double repeats = 0;
  double top_tenth = 0;
  constexpr int kSeeds = 4;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Portrait found = portrait(generate(learnt->workload, static_cast<std::uint64_t>(seed)));
    repeats += found.repeats / kSeeds;
    top_tenth += found.top_tenth / kSeeds;
    for (const double q : {0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
      std::vector<double> a = wanted.runs;
      std::vector<double> b = found.runs;
      // Octaves are kept, and taken to be even inside: half of one at most. What ran for less
      // than a second counts as one.
      const double there = std::max(1.0, stats::quantile(a, q));
      EXPECT_NEAR(std::log2(stats::quantile(b, q) / there), 0, 0.5) << q;
    }
  }
  EXPECT_NEAR(repeats, wanted.repeats, 0.15);
  EXPECT_NEAR(top_tenth, wanted.top_tenth, 0.15);
}

INSTANTIATE_TEST_SUITE_P(Logs, FitReal,
                         testing::Values("helios_venus_log_2020-05-27_to_06-17",
                                         "tacc_ls6_a100_2022-10_to_2023-01",
                                         "philly_2017-08_to_11"));

}  // namespace
}  // namespace almanac::trace
