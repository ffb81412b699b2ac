// SPDX-License-Identifier: Apache-2.0

/// \file
/// Estimated run times. Each job is estimated once and remembered over rounds, because each round
/// has a new policy object. Learns from every job that ends.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "manager/job.h"
#include "policy/composition.h"
#include "predict/estimator.h"
#include "trace/trace.h"

namespace almanac::steer {

/// Not thread-safe.
class Beliefs {
 public:
  struct Known;
  /// What is known of one job, for those that would ask often; null if they have not asked.
  using Handle = std::shared_ptr<const Known>;

  /// Estimates as `composition` does, after learning from the jobs of `lessons`. Its names are
  /// those of all requests, so `lessons` must outlive it; the jobs of `lessons` need not.
  Beliefs(const policy::Composition& composition, const trace::Trace& lessons);

  Duration of(manager::JobNumber job, const trace::Request& request);
  /// An estimator for one policy object. `jobs` gives the job numbers by JobId, `handles` where to
  /// find and keep their handles, null for none. Both must outlive it.
  std::unique_ptr<predict::Estimator> for_round(const std::vector<manager::JobNumber>& jobs,
                                                const std::vector<Handle*>& handles);
  /// Learns from an ended job.
  void learn(manager::JobNumber job, const trace::Request& request, const predict::Ended& ended);
  /// Forgets a job that is gone without having run.
  void forget(manager::JobNumber job) { known_.erase(job); }

 private:
  class OfRound;

  const Handle& know(manager::JobNumber job, const trace::Request& request);

  bool needs_distribution_;
  std::uint32_t next_;  // JobId that was never used
  std::unique_ptr<predict::Estimator> estimator_;
  std::unordered_map<manager::JobNumber, Handle> known_;
};

}  // namespace almanac::steer
