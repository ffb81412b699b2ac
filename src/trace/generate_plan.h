// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides, before anything is drawn, how many jobs of each size each virtual cluster gets and
/// how long each size runs, so that all the published margins hold at once.
///
/// Source   Hu et al., SC'21, Figures 5 and 6 give the margins that are to be joined.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "stats/log_normal.h"
#include "stats/octaves.h"
#include "trace/workload.h"

namespace almanac::trace {

/// The jobs of one size in one virtual cluster.
struct PlanCell {
  std::uint32_t vc = 0;    ///< Position in Workload::vc.
  std::uint32_t size = 0;  ///< Position in Plan::sizes.
  std::int64_t jobs = 0;
};

/// A size of jobs: so many GPUs, or none and so many cores.
struct PlanSize {
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;  ///< Of a CPU job.
  std::variant<stats::Octaves, stats::LogNormal> runs;
  double completed = 1;  ///< Shares of the final states; the rest fails.
  double cancelled = 0;
};

struct Plan {
  std::vector<PlanSize> sizes;  ///< Those of GPU jobs, in the order of Workload::size, then CPU
                                ///< jobs.
  std::vector<PlanCell> cells;  ///< GPU jobs, then CPU jobs; by VC, then size; none without jobs.
  std::vector<double> vc_load;  ///< Expected GPU time / (GPUs x span) of each VC.
};

/// Requires: check(workload) finds nothing.
Plan make_plan(const Workload& workload);

}  // namespace almanac::trace
