// SPDX-License-Identifier: Apache-2.0

/// \file
/// What Synergy's policies do by default with the deployment traces of its published simulator; the
/// recipe `synergy` has what the published simulator makes of them.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiment/experiment.h"
#include "passes/synergy.h"
#include "support/shared_data.h"

namespace almanac {
namespace {

constexpr const char* kStatic = "golden/synergy/static_100job_6_3_1100.0";
constexpr const char* kDynamic = "golden/synergy/dynamic_srtf.log";
constexpr const char* kTables = "data/profiles/synergy/synergy_sensitivity.csv";

/// Mean completion time and makespan, in hours.
struct Row {
  double mean = 0;
  double makespan = 0;
};

cluster::Cluster cluster_of(int nodes, int gpus_per_node) {
  cluster::Cluster made;
  made.add_vc("all");
  made.takes_every_job = true;
  made.add_nodes(
      {.gpus = gpus_per_node, .cpus = 3.0 * gpus_per_node, .memory_gb = 62.5 * gpus_per_node},
      static_cast<std::uint32_t>(nodes));
  return made;
}

class SynergySimulator : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* path : {kStatic, kDynamic, kTables}) {
      if (!shared_path(path)) GTEST_SKIP() << path << " is not at hand";
    }
  }

  static Row run(const std::string& policy, const char* trace, bool as_published) {
    experiment::Experiment experiment;
    experiment.trace = *shared_path(trace);
    experiment.policies = {policy};
    experiment.speed = *shared_path(kTables);
    auto read = trace::read_trace(experiment.trace, {});
    EXPECT_TRUE(read) << to_string(read.error());
    const auto prepared = experiment::prepare(experiment, std::move(*read), cluster_of(4, 8));
    EXPECT_TRUE(prepared) << to_string(prepared.error());
    const auto result = as_published ? passes::simulate_as_synergy(*prepared)
                                     : experiment::simulate_run(*prepared, 0);
    EXPECT_TRUE(result) << to_string(result.error());
    Row row;
    for (std::size_t job = 0; job < prepared->trace.jobs.size(); ++job) {
      const Time end = result->jobs[job].end;
      row.mean += seconds(end - prepared->trace.jobs[job].request.submit) / 3600 /
                  static_cast<double>(prepared->trace.jobs.size());
      row.makespan = std::max(row.makespan, seconds(end) / 3600);
    }
    return row;
  }

  static Row by_default(const std::string& policy, const char* trace) {
    return run(policy, trace, false);
  }
};

TEST_F(SynergySimulator, ByDefaultTuneIsNearOptAndBetterThanPublished) {
  for (const char* trace : {kStatic, kDynamic}) {
    for (const char* order : {"fifo", "srtf"}) {
      SCOPED_TRACE(fmt::format("{} {}", trace, order));
      const Row share = by_default(fmt::format("synergy_proportional+{}", order), trace);
      const Row tune = by_default(fmt::format("synergy_tune+{}", order), trace);
      const Row opt = by_default(fmt::format("synergy_opt+{}", order), trace);
      const Row published = run(fmt::format("synergy_tune+{}", order), trace, true);
      EXPECT_LE(tune.mean, 1.1 * opt.mean);
      EXPECT_LE(tune.makespan, 1.1 * opt.makespan);
      EXPECT_LT(tune.mean, published.mean);
      EXPECT_LT(tune.mean, share.mean);
    }
  }
}

}  // namespace
}  // namespace almanac
