// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs of a round may share a GPU (shards.h), and which ones share one although the policy
/// would not let them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "perf/catalogue.h"
#include "policy/contract/contract.h"
#include "steer/aside.h"
#include "steer/decision.h"
#include "steer/round_jobs.h"
#include "steer/shards.h"

namespace almanac::steer {

/// Not thread-safe.
class Sharing {
 public:
  /// `catalogue` says how jobs slow each other; null if that is not known.
  explicit Sharing(std::shared_ptr<const perf::Catalogue> catalogue)
      : catalogue_(std::move(catalogue)) {}

  bool knows_speeds() const { return catalogue_ != nullptr; }
  /// Finds hosts and guests among `jobs`. A host runs alone on a GPU which a guest would get, or
  /// another all to itself, whatever the manager's order is. The manager could start a guest on any
  /// node.
  void look(const Mirror& mirror, const Exempt& exempt, const RoundJobs& jobs);
  /// Returns how fast jobs run next to each other on `cluster`; null if that is not known, or no
  /// GPU can be shared. Both must outlive it.
  const policy::Speeds* observe(const cluster::Cluster& cluster, const trace::Trace& log);
  bool may_share(JobId host, JobId guest) const;
  /// The jobs that slow each other more than `policy` allows.
  std::vector<Decision::Clash> clashes(const schedule::Round& round, const RoundJobs& jobs,
                                       const policy::Composition& policy) const;

 private:
  /// What a job may be.
  struct Role {
    int half = 0;             // shards that a guest may have; 0 = it may be no host
    bool is_certain = false;  // a guest comes here, or to a GPU of its own
    int asks = 0;             // shards; 0 = it may be no guest
    bool is_careful = false;  // it must not come to another host by chance
  };

  /// The speed of a job next to others, as a fraction of its speed alone with what it holds; 1 if
  /// it holds no GPU.
  double relative_speed(const schedule::Round& round, JobId job,
                        const std::vector<JobId>& others) const;

  std::shared_ptr<const perf::Catalogue> catalogue_;
  std::map<std::string, SharedNode> nodes_;
  std::vector<Role> roles_;  // by JobId
  std::unique_ptr<const policy::Speeds> speeds_;
};

}  // namespace almanac::steer
