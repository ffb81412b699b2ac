// SPDX-License-Identifier: Apache-2.0

/// \file
/// For tests: a site of four nodes with 16 CPUs and 4 A100s (weight 20), and four with 32 CPUs and
/// 8 V100s (weight 10), as in the recorded scenarios.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slurmctld/jobs/submission.h"
#include "slurmctld/nodes/choose.h"

namespace almanac::slurmctld {

inline site::Site eight_nodes() {
  site::Site site;
  site.tres = site::standard_tres();
  site.tres.push_back({"gres/gpu", 1001});
  site.config.version = "22.05.8";
  site.config.release = 2205;
  site.config.job_defaults.memory_per_cpu_mb = 500;
  for (int at = 1; at <= 8; ++at) {
    const bool is_small = at <= 4;
    site::Node node{
        .name = fmt::format("n{:02}", at),
        .cpus = is_small ? 16 : 32,
        .effective_cpus = is_small ? 16 : 32,
        .sockets = 2,
        .memory_mb = is_small ? 64'000 : 128'000,
        .gres = {{.name = "gpu", .type = is_small ? "a100" : "v100", .count = is_small ? 4 : 8}},
        .features = {is_small ? "a100" : "v100"},
        .weight = is_small ? 20U : 10U};
    site.nodes.push_back(std::move(node));
  }
  site.partitions.push_back({.name = "main",
                             .nodes = {0, 1, 2, 3, 4, 5, 6, 7},
                             .is_default = true,
                             .default_time = 5min});
  return site;
}

/// The cluster, and what runs on it.
struct Machines {
  explicit Machines(site::Site of = eight_nodes())
      : site(std::move(of)),
        table(make_node_table(site)),
        room(table),
        rules(rules_of(site.partitions.front(), 0)),
        all(table.size(), true) {}

  Submission parse(const std::string& options) const {
    auto parsed = parse_command_line("sbatch " + options + " --wrap x", table);
    EXPECT_TRUE(parsed) << options;
    apply_defaults(*parsed, site.partitions.front(), site.config);
    return *std::move(parsed);
  }
  std::optional<Allocation> find(const std::string& options) const {
    const Submission job = parse(options);
    return choose(room, {.request = job.request, .partition = rules, .candidates = all});
  }
  /// Starts a job. Returns its nodes and CPUs: "n05:4 n06:12", or "" if it does not fit.
  std::string start(const std::string& options) {
    const auto allocation = find(options);
    if (!allocation) return "";
    room.take(*allocation);
    running.push_back(*allocation);
    std::string text;
    for (const Share& share : allocation->shares) {
      text +=
          fmt::format("{}{}:{}", text.empty() ? "" : " ", table.nodes[share.node].name, share.cpus);
    }
    return text;
  }

  site::Site site;
  NodeTable table;
  Room room;
  PartitionRules rules;
  NodeBits all;
  std::vector<Allocation> running;
};

}  // namespace almanac::slurmctld
