// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tracks which jobs send over which links (policy/contract/link_map.h), and how much they slow
/// each other (rules/links/contention.h). The most crowded link of a job determines its speed.
///
/// Cost     Nothing for jobs on one node and jobs with unknown traffic. Otherwise
///          links::stretches() for a link whenever one of its jobs comes or goes.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "policy/contract/link_map.h"
#include "policy/contract/speeds.h"
#include "rules/links/contention.h"

namespace almanac::sim {

class SharedLinks {
 public:
  /// `speeds` must outlive it.
  SharedLinks(const cluster::Cluster& cluster, const policy::Speeds& speeds);

  /// Adds a job that holds `held` from now on; ignores it if it sends nothing. Returns the other
  /// jobs that it may slow, each once, in order of number.
  std::vector<JobId> enter(JobId job, std::span<const cluster::Grant> held,
                           const policy::Config& config);
  /// Returns the jobs that it may have slowed.
  std::vector<JobId> leave(JobId job);
  bool has(JobId job) const { return !jobs_.empty() && jobs_.contains(job); }
  /// Returns its speed relative to uncontended links; 1 if it sends nothing.
  double speed(JobId job) const;

 private:
  struct Sender {
    links::Flow flow;
    std::vector<std::uint32_t> links;
  };
  struct Link {
    double gbps = 0;
    std::vector<JobId> jobs{};        // in order of number
    std::vector<double> stretches{};  // of their steps
  };

  std::vector<JobId> others(JobId job, const Sender& sender) const;
  void judge(Link& link);

  policy::LinkMap map_;
  const policy::Speeds& speeds_;
  std::vector<Link> links_;
  std::unordered_map<JobId, Sender> jobs_;
};

}  // namespace almanac::sim
