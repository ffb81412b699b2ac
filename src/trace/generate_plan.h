// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides, before anything is drawn, how many jobs of each size each virtual cluster gets and how
/// long each size runs, so that all published margins hold at once.
///
/// Source   Hu et al., SC'21, Figures 5 and 6 give the margins to combine.
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

/// A job size: a number of GPUs, or a number of cores without GPUs.
struct PlanSize {
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;  ///< For a CPU job.
  std::variant<stats::Octaves, stats::LogNormal> runs;
  double completed = 1;  ///< Shares of the final states; the rest fails.
  double cancelled = 0;
};

struct Plan {
  /// GPU job sizes in the order of Workload::size, then CPU job sizes.
  std::vector<PlanSize> sizes;
  /// GPU jobs, then CPU jobs; by virtual cluster, then size; cells without jobs are left out.
  std::vector<PlanCell> cells;
  std::vector<double> vc_load;  ///< Expected GPU time / (GPUs x span) of each VC.
};

/// Requires: check(workload) finds nothing.
Plan make_plan(const Workload& workload);

}  // namespace almanac::trace
