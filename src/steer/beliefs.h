// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long each job is believed to run. Asked once a job and remembered over rounds, each of which
/// begins with a new policy; learns from every job that ends.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "policy/composition.h"
#include "predict/estimator.h"
#include "slurm/job.h"
#include "trace/trace.h"

namespace almanac::steer {

/// Not thread-safe.
class Beliefs {
 public:
  /// As `composition` believes, having learned from the jobs of `lessons`. The names of these, and
  /// of all requests that it is asked about, are those of `lessons`, which must outlive it; its
  /// jobs need not.
  Beliefs(const policy::Composition& composition, const trace::Trace& lessons);

  Duration of(slurm::JobNumber job, const trace::Request& request);
  /// An estimator for one policy, of jobs whose numbers are those of `jobs`, which must outlive it.
  std::unique_ptr<predict::Estimator> for_round(const std::vector<slurm::JobNumber>& jobs);
  /// One has ended, having run from `start` to `end`.
  void learn(slurm::JobNumber job, const trace::Request& request, const predict::Ended& ended);
  /// One is gone without having run.
  void forget(slurm::JobNumber job) { known_.erase(job); }

 private:
  struct Known {
    JobId id{};  // as the estimator was asked
    Duration run{};
    std::unique_ptr<const predict::Distribution> likely{};
  };
  class OfRound;

  Known& know(slurm::JobNumber job, const trace::Request& request);

  bool needs_distribution_;
  std::uint32_t next_;  // JobId that was never used
  std::unique_ptr<predict::Estimator> estimator_;
  std::map<slurm::JobNumber, Known> known_;
};

}  // namespace almanac::steer
