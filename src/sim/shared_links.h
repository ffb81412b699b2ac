// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs send over which links (policy/contract/link_map.h), and how much they slow each other
/// there (rules/links/contention.h): a job is as slow as the most crowded of its links makes it.
///
/// Cost     Nothing of jobs that lie on one node, or do not tell what they send. Else a link costs
///          links::stretches() whenever one of its jobs comes or goes.
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

  /// A job that has not entered holds `held` from now on, and runs so; not entered if it sends
  /// nothing. Gives the other jobs that it may slow, each once, in order of number.
  std::vector<JobId> enter(JobId job, std::span<const cluster::Grant> held,
                           const policy::Config& config);
  /// Gives those that it may have slowed.
  std::vector<JobId> leave(JobId job);
  bool has(JobId job) const { return !jobs_.empty() && jobs_.contains(job); }
  /// Its speed beside that at which what it sends takes as long as it tells; 1 of one that sends
  /// nothing.
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
