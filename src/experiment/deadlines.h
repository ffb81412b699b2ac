// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gives the GPU jobs of a log what GENIE's tasks have: a batch size and steps, so that they may
/// run on other numbers of GPUs than recorded, and a deadline.
///
/// Arrivals, GPUs and run times stay those of the log. A job whose model the catalogue does not
/// know gets a random known model. A missing batch size is a random power of two, at least one
/// sample per GPU; the steps are those that take the recorded run time on the recorded GPUs.
/// Deadlines count from the run time on one GPU (trace/deadlines.h).
///
/// Source   GENIE (Chen et al., TPDS'20) 5.3, Eq 9.
/// Differs  The paper draws arrivals and steps; here both are the log's.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "perf/catalogue.h"
#include "trace/deadlines.h"
#include "trace/trace.h"

namespace almanac::experiment {

struct DeadlineOptions {
  trace::DeadlineMix mix = trace::kGenieMix;
  /// GPUs per node; jobs ran on as few such nodes as possible.
  int node_gpus = 8;
  std::int64_t most_gpus = 16;  ///< Largest number that a job may use, unless it requested more.
  std::uint64_t seed = 1;
};

struct DrawnDeadlines {
  std::int64_t jobs = 0;   ///< With GPUs.
  std::int64_t drawn = 0;  ///< Jobs whose model was drawn.
};

/// Fails with `usage` if the catalogue knows no model in training or inference, or the mix is
/// empty. Deterministic. At most O(jobs x models).
Result<DrawnDeadlines> draw_deadlines(trace::Trace& trace, const perf::Catalogue& catalogue,
                                      const DeadlineOptions& options);

}  // namespace almanac::experiment
