// SPDX-License-Identifier: Apache-2.0

/// \file
/// The published Synergy simulator under `--profile synergy`: completion times of its two
/// deployment traces under every order and allocator, to the digits that were noted; and what the
/// same policies do by default.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/experiment.h"
#include "stats/quantile.h"
#include "support/shared_data.h"

namespace almanac {
namespace {

constexpr const char* kStatic = "golden/synergy/static_100job_6_3_1100.0";
constexpr const char* kDynamic = "golden/synergy/dynamic_srtf.log";
constexpr const char* kTables = "data/profiles/synergy/synergy_sensitivity.csv";
constexpr const char* kNoted = "reference/genie_coda_synergy.md";

/// Mean, median, 95th and 99th percentile of completion times, and the makespan, in hours.
struct Row {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double makespan = 0;
};

std::string to_text(const Row& row) {
  return fmt::format("{:.3f} {:.3f} {:.3f} {:.3f} {:.2f}", row.mean, row.p50, row.p95, row.p99,
                     row.makespan);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

struct Noted {
  std::string policy;
  std::string of_static;
  std::string of_dynamic;
};

/// The rows `| FIFO | tune | 5.083 | ...` of the reference.
std::vector<Noted> noted_rows(const std::string& path) {
  const std::map<std::string, std::string> sizes{
      {"fair", "proportional"}, {"tune", "tune"}, {"greedy", "greedy"}, {"opt", "opt"}};
  std::vector<Noted> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 13 || !sizes.contains(cells[2])) continue;
    std::string order = cells[1];
    std::transform(order.begin(), order.end(), order.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const auto joined = [&](std::size_t from) {
      return fmt::format("{} {} {} {} {}", cells[from], cells[from + 1], cells[from + 2],
                         cells[from + 3], cells[from + 4]);
    };
    rows.push_back({fmt::format("synergy_{}+{}", sizes.at(cells[2]), order), joined(3), joined(8)});
  }
  return rows;
}

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
    for (const char* path : {kStatic, kDynamic, kTables, kNoted}) {
      if (!shared_path(path)) GTEST_SKIP() << path << " is not at hand";
    }
  }

  static Row run(const std::string& policy, const char* trace, const std::string& profile,
                 const cluster::Cluster& cluster) {
    sim::Experiment experiment;
    experiment.trace = *shared_path(trace);
    experiment.policies = {policy};
    experiment.profile = profile;
    experiment.speed = *shared_path(kTables);
    auto read = trace::read_trace(experiment.trace, {});
    EXPECT_TRUE(read) << to_string(read.error());
    const auto prepared = sim::prepare(experiment, std::move(*read), cluster);
    EXPECT_TRUE(prepared) << to_string(prepared.error());
    const auto result = sim::simulate_run(*prepared, 0);
    EXPECT_TRUE(result) << to_string(result.error());
    std::vector<double> hours;
    Row row;
    for (std::size_t job = 0; job < prepared->trace.jobs.size(); ++job) {
      const Time end = result->jobs[job].end;
      hours.push_back(seconds(end - prepared->trace.jobs[job].request.submit) / 3600);
      row.mean += hours.back() / static_cast<double>(prepared->trace.jobs.size());
      row.makespan = std::max(row.makespan, seconds(end) / 3600);
    }
    std::sort(hours.begin(), hours.end());
    row.p50 = stats::quantile_sorted(hours, 0.5);
    row.p95 = stats::quantile_sorted(hours, 0.95);
    row.p99 = stats::quantile_sorted(hours, 0.99);
    return row;
  }

  static Row by_default(const std::string& policy, const char* trace) {
    return run(policy, trace, "", cluster_of(4, 8));
  }
};

TEST_F(SynergySimulator, IsMatchedToTheDigit) {
  int rows = 0;
  for (const Noted& noted : noted_rows(*shared_path(kNoted))) {
    if (noted.policy.starts_with("synergy_opt")) continue;
    SCOPED_TRACE(noted.policy);
    const cluster::Cluster cluster = cluster_of(4, 8);
    EXPECT_EQ(to_text(run(noted.policy, kStatic, "synergy", cluster)), noted.of_static);
    EXPECT_EQ(to_text(run(noted.policy, kDynamic, "synergy", cluster)), noted.of_dynamic);
    ++rows;
  }
  EXPECT_EQ(rows, 18);
}

// Of several mixes that are equally good the artifact's solver takes one and ours another, and jobs
// of one model are not equally long. So OPT is matched in what it reaches, not in which jobs get
// it.
TEST_F(SynergySimulator, OptReachesAsMuch) {
  int rows = 0;
  for (const Noted& noted : noted_rows(*shared_path(kNoted))) {
    if (!noted.policy.starts_with("synergy_opt")) continue;
    SCOPED_TRACE(noted.policy);
    const cluster::Cluster pooled = cluster_of(1, 32);
    for (const auto& [trace, text] :
         {std::pair{kStatic, noted.of_static}, std::pair{kDynamic, noted.of_dynamic}}) {
      const Row row = run(noted.policy, trace, "synergy", pooled);
      EXPECT_NEAR(row.mean / std::stod(text), 1, 0.02) << to_text(row) << " for " << text;
      EXPECT_NEAR(row.makespan / std::stod(text.substr(text.rfind(' '))), 1, 0.03);
    }
    ++rows;
  }
  EXPECT_EQ(rows, 2);
}

TEST_F(SynergySimulator, ByDefaultTuneIsNearOptAndBetterThanPublished) {
  for (const char* trace : {kStatic, kDynamic}) {
    for (const char* order : {"fifo", "srtf"}) {
      SCOPED_TRACE(fmt::format("{} {}", trace, order));
      const Row share = by_default(fmt::format("synergy_proportional+{}", order), trace);
      const Row tune = by_default(fmt::format("synergy_tune+{}", order), trace);
      const Row opt = by_default(fmt::format("synergy_opt+{}", order), trace);
      const Row published =
          run(fmt::format("synergy_tune+{}", order), trace, "synergy", cluster_of(4, 8));
      EXPECT_LE(tune.mean, 1.1 * opt.mean);
      EXPECT_LE(tune.makespan, 1.1 * opt.makespan);
      EXPECT_LT(tune.mean, published.mean);
      EXPECT_LT(tune.mean, share.mean);
    }
  }
}

}  // namespace
}  // namespace almanac
