// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who had how much of what was due to it in a run: tenants of the cluster by their guarantees,
/// else users, all alike.
///
/// The run is cut into equal spans. In each, an owner asks the GPUs of its jobs that were there,
/// from submission to end, on average; what is due to it is its part of all GPUs, and of what
/// others do not ask. A tenant without a guarantee, and jobs of none, are due what is left. What a
/// job that was stopped had counts evenly from its first start to its end. GPUs are those that a
/// job asks.
///
/// Source   Ghodsi et al., NSDI'11, section 3 (max-min fairness with weights, of one resource);
///          Mahajan et al., NSDI'20 (Themis), for the finish-time ratio.
/// Cost     O(jobs + spans x owners), 8 MB at most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::sim {

struct Owner {
  std::string name{};  ///< "tenant vision", "user ann"; "others" = jobs of no tenant.
  std::uint64_t jobs = 0;
  double had_gpu_s = 0;
  double due_gpu_s = 0;
  double lent_gpu_s = 0;      ///< Of its part of all GPUs what it did not ask, and others had.
  double borrowed_gpu_s = 0;  ///< That it had beyond its part of all GPUs.
  double finish_ratio = 0;    ///< Mean of its jobs that finished; NaN without any.
};

struct Loan {
  std::size_t from = 0;
  std::size_t to = 0;
  double gpu_s = 0;
};

struct Dues {
  bool by_tenant = false;
  std::vector<Owner> owners{};  ///< Those with a GPU job; none where there are not two.
  std::vector<Loan> loans{};    ///< Between tenants, the largest first; lenders share a loan by
                                ///< what they leave.
  double share_error = 0;       ///< The part of what was had that would have to change hands.
  double jain = 0;              ///< Of had / due.
  std::size_t worst = 0;        ///< Who had least of its due.
  double worst_part = 0;        ///< Of its due.
  double finish_ratio = 0;      ///< Mean of all jobs.
  double unfair_jobs = 0;       ///< The part of them with a ratio above 1.05.
};

/// How much of all GPUs is due to each of those that ask `asked`, by `weights`.
std::vector<double> fair_parts(const std::vector<double>& asked, const std::vector<double>& weights,
                               double gpus);

Dues judge(const trace::Trace& trace, const cluster::Cluster& cluster, const Schedule& schedule);

/// "was 14 % over its due", "had its due".
std::string beside_its_due(const Owner& owner);

}  // namespace almanac::sim
