// SPDX-License-Identifier: Apache-2.0

// The mix of GPU and CPU jobs: what presets/coda.toml says, counted in what is generated. Jobs of a
// recipe are alike, so a share is off by the recipes drawn, not by the jobs: its standard error is
// sqrt(p (1 - p) sum of w^2), w the shares of jobs that the recipes have.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "table/stream.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"
#include "trace/write.h"

namespace almanac::trace {
namespace {

constexpr double kSpan = 1.5 * 86400;

Workload coda() { return parse_workload(*preset("coda"), "coda.toml").value(); }

/// Twenty-five clusters' worth, for shares that mean something.
const Trace& large() {
  static const Trace log = generate(scaled(coda(), 25), 1);
  return log;
}

using Which = std::function<bool(const Job&)>;

bool on_gpus(const Job& job) { return job.request.gpus > 0; }
bool on_cpus(const Job& job) { return job.request.gpus == 0; }

/// How often `hits` holds among the jobs of `which`, and how far off by chance that may be.
struct Share {
  double found = 0;
  double error = 0;  ///< Four and a half standard errors of `expected`.
};

Share share(const Trace& log, const Which& which, const Which& hits, double expected) {
  std::map<std::pair<NameId, NameId>, double> recipes;
  double jobs = 0;
  double found = 0;
  for (const Job& job : log.jobs) {
    if (!which(job)) continue;
    recipes[{job.request.user, job.request.name}] += 1;
    jobs += 1;
    found += hits(job) ? 1 : 0;
  }
  double squares = 0;
  for (const auto& [recipe, count] : recipes) squares += count / jobs * count / jobs;
  return {found / jobs, 4.5 * std::sqrt(expected * (1 - expected) * squares)};
}

void expect_share(const Which& which, const Which& hits, double expected, const std::string& what) {
  const Share seen = share(large(), which, hits, expected);
  EXPECT_NEAR(seen.found, expected, seen.error) << what;
  EXPECT_LT(seen.error, 0.5 * expected) << what << ": too few jobs to tell";
}

TEST(CodaWorkload, OffersTheLoadsThatItSays) {
  const Trace log = generate(coda(), 7);
  double gpu_jobs = 0, gpu_time = 0, core_time = 0, cpu_run = 0;
  for (const Job& job : log.jobs) {
    gpu_jobs += on_gpus(job) ? 1 : 0;
    gpu_time += seconds(job.outcome.run) * job.request.gpus;
    if (on_gpus(job)) continue;
    core_time += seconds(job.outcome.run) * static_cast<double>(job.request.cpus);
    cpu_run += seconds(job.outcome.run) / 1560;
  }
  EXPECT_EQ(gpu_jobs, 520);
  EXPECT_EQ(log.jobs.size(), 520U + 3 * 520U);
  // As near as one job more or less comes.
  EXPECT_NEAR(gpu_time / (100 * kSpan), 0.5, 0.5 / 520);
  // Run times are whole seconds.
  EXPECT_NEAR(core_time / (560 * kSpan), 0.2, 0.2 * 0.5 / cpu_run);
}

TEST(CodaWorkload, HasTheSizesInExactShares) {
  std::map<int, int> gpus;
  std::map<float, int> cores;
  for (const Job& job : large().jobs) {
    on_gpus(job) ? ++gpus[job.request.gpus] : ++cores[job.request.cpus];
  }
  EXPECT_EQ(gpus, (std::map<int, int>{{1, 8450}, {2, 1950}, {4, 2600}}));
  EXPECT_EQ(cores, (std::map<float, int>{{1, 15600}, {2, 7800}, {4, 7800}, {8, 5850}, {16, 1950}}));
}

TEST(CodaWorkload, RunsAreLogNormalUpToTwoDays) {
  // P(run <= t) = Phi(ln(t / 40 min) / 1.5): by hand for t = 40 min x e^(1.5 z). Each size follows
  // the curve rank by rank, so that a share is off by one job of each size.
  const std::array<std::pair<double, double>, 4> table{
      {{-1, 0.158655}, {0, 0.5}, {1, 0.841345}, {2, 0.977250}}};
  for (const auto& [z, wanted] : table) {
    const double limit = 2400 * std::exp(1.5 * z);
    double found = 0;
    for (const Job& job : large().jobs) {
      found += on_gpus(job) && seconds(job.outcome.run) <= limit ? 1.0 / 13000 : 0;
    }
    EXPECT_NEAR(found, wanted, 3.0 / 13000 + 2e-4) << z;
  }
  for (const Job& job : large().jobs) {
    EXPECT_TRUE(on_cpus(job) || job.outcome.run <= 48h);
  }
}

TEST(CodaWorkload, TrainsEachModelAsOften) {
  const Workload workload = coda();
  ASSERT_EQ(workload.model.size(), 10U);
  for (const Workload::Model& model : workload.model) {
    expect_share(
        on_gpus,
        [&](const Job& job) {
          return large().names[job.request.model] == model.name &&
                 large().names[job.request.kind] == model.kind &&
                 large().names[job.request.name].starts_with(model.name + "_");
        },
        0.1, model.name);
  }
}

TEST(CodaWorkload, AsksTheCoresThatItSays) {
  const Which small = [](const Job& job) { return on_gpus(job) && job.request.gpus <= 2; };
  std::array<double, 13> wanted{};
  for (const int each : {1, 2}) wanted.at(static_cast<std::size_t>(each)) = 0.761 / 2;
  for (const int each : {10, 11, 12}) wanted.at(static_cast<std::size_t>(each)) = 0.153 / 3;
  for (const int each : {3, 4, 5, 6, 7, 8}) wanted.at(static_cast<std::size_t>(each)) = 0.086 / 6;
  for (std::size_t each = 1; each < wanted.size(); ++each) {
    if (wanted[each] == 0) continue;
    expect_share(
        small,
        [&](const Job& job) {
          return job.request.cpus ==
                 static_cast<float>(each) * static_cast<float>(job.request.gpus);
        },
        wanted[each], std::to_string(each) + " cores a GPU");
  }
  // 4 GPUs of 8 cores each or more are more than a node has: 28 it is.
  const Which four = [](const Job& job) { return job.request.gpus == 4; };
  expect_share(
      four, [](const Job& job) { return job.request.cpus == 28; }, 0.153 + 2 * 0.086 / 6,
      "all cores of a node");
}

TEST(CodaWorkload, LoadsTheMemoryOfItsNodes) {
  for (const Job& job : large().jobs) {
    if (on_gpus(job)) {
      EXPECT_EQ(job.outcome.bandwidth_gbs, 6 * static_cast<float>(job.request.gpus));
      EXPECT_TRUE(std::isinf(job.outcome.reference_cpus));
    } else {
      const float each = job.outcome.bandwidth_gbs / job.request.cpus;
      EXPECT_TRUE(each == 1.5F || each == 8.0F) << each;
      EXPECT_TRUE(std::isnan(job.outcome.reference_cpus));
    }
    EXPECT_TRUE(std::isnan(job.request.memory_gb)) << "not said";
  }
  expect_share(
      on_cpus, [](const Job& job) { return job.outcome.bandwidth_gbs == 8 * job.request.cpus; },
      0.1, "heavy");
}

// Counts of a Poisson process vary as much as their mean: over n bins the ratio of variance to mean
// has a standard error of sqrt(2 / (n - 1)).
TEST(CodaWorkload, JobsArriveAsAPoissonProcess) {
  constexpr std::size_t kBins = 216;
  const Time start = coda().span.start;
  for (const Which& which : {Which(on_gpus), Which(on_cpus)}) {
    std::array<double, kBins> counts{};
    double jobs = 0;
    for (const Job& job : large().jobs) {
      if (!which(job)) continue;
      const double since = seconds(job.request.submit - start);
      counts.at(std::min(kBins - 1, static_cast<std::size_t>(since / kSpan * kBins))) += 1;
      jobs += 1;
    }
    const double mean = jobs / kBins;
    double variance = 0;
    for (const double count : counts) variance += (count - mean) * (count - mean) / (kBins - 1);
    EXPECT_NEAR(variance / mean, 1, 4.5 * std::sqrt(2.0 / (kBins - 1)));
  }
}

TEST(CodaWorkload, SameSeedSameBytes) {
  const TemporaryFolder folder;
  const auto bytes = [&](std::uint64_t seed) {
    EXPECT_TRUE(save_trace(generate(coda(), seed), folder / "t.csv"));
    return table::read_file(folder / "t.csv").value();
  };
  const std::string first = bytes(3);
  EXPECT_EQ(bytes(3), first);
  EXPECT_NE(bytes(4), first);
}

}  // namespace
}  // namespace almanac::trace
