// SPDX-License-Identifier: Apache-2.0

/// \file
/// A small site for tests: 8 nodes with 192 CPUs, as in Slurm's recorded scenarios.
#pragma once

#include <string>
#include <utility>

#include "site/site.h"

namespace almanac::slurmctld {

inline site::Association account(std::string name, std::int32_t parent, std::int64_t shares) {
  return {.account = std::move(name), .parent = parent, .shares = shares};
}

inline site::Association user(std::string name, std::string account, std::int32_t parent,
                              std::int64_t shares) {
  return {
      .account = std::move(account), .user = std::move(name), .parent = parent, .shares = shares};
}

/// Root with the accounts chem (5 shares: u1 4, u2 1), phys (3: u3 2) and bio (2: u4 1).
inline site::Site example_site() {
  site::Site site;
  site.tres = site::standard_tres();
  site.tres.push_back({"gres/gpu", 1001});
  for (int at = 0; at < 8; ++at) {
    const int cpus = at < 4 ? 16 : 32;
    site::Node node;
    node.name = "n" + std::to_string(at + 1);
    node.cpus = node.effective_cpus = cpus;
    node.memory_mb = cpus * 4000;
    node.gres.push_back({.name = "gpu", .type = "", .count = cpus / 4});
    site.nodes.push_back(std::move(node));
  }
  site.partitions = {{.name = "main", .nodes = {0, 1, 2, 3, 4, 5, 6, 7}, .priority_job_factor = 10},
                     {.name = "gpu", .nodes = {0, 1, 2, 3}, .priority_job_factor = 40}};
  site.qos = {{.name = "normal"},
              {.name = "high", .priority = 1000},
              {.name = "cheap", .priority = 10, .usage_factor = 0.25}};
  site.associations = {account("root", -1, 1),   account("chem", 0, 5),  user("u1", "chem", 1, 4),
                       user("u2", "chem", 1, 1), account("phys", 0, 3),  user("u3", "phys", 4, 2),
                       account("bio", 0, 2),     user("u4", "bio", 6, 1)};
  site.config.priority.type = site::PriorityType::multifactor;
  site.config.priority.decay_half_life = 5min;
  site.config.priority.calc_period = 1min;
  site.config.priority.max_age = 10min;
  site.config.enforced.limits = true;
  return site;
}

/// 16 CPUs, 8000 MB and 4 GPUs on one node.
inline site::TresCounts example_request() {
  return {{site::kCpu, 16}, {site::kMemory, 8000}, {site::kNode, 1}, {8, 4}};
}

}  // namespace almanac::slurmctld
