// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gives the GPU jobs of a log what GENIE's tasks have: a batch and steps, so that they may run on
/// other numbers of GPUs than recorded, and a deadline.
///
/// Arrivals, GPUs and run times stay the log's. A job whose model the catalogue does not know in
/// training or inference gets one of those it knows, all as likely. A batch that the log does not
/// tell is a power of two, all as likely, with a sample for each GPU at least; steps are as many as
/// take the recorded run time on the recorded GPUs. Deadlines count from the run time on one
/// GPU (trace/deadlines.h).
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
  int node_gpus = 8;            ///< Jobs lay on as few nodes of so many GPUs as hold them.
  std::int64_t most_gpus = 16;  ///< That a job may run on, unless it asked more.
  std::uint64_t seed = 1;
};

struct DrawnDeadlines {
  std::int64_t jobs = 0;   ///< With GPUs.
  std::int64_t drawn = 0;  ///< Of these, whose model was drawn.
};

/// Fails with usage where the catalogue knows no model in training or inference, or the mix is
/// empty. Deterministic. O(jobs x models) at most.
Result<DrawnDeadlines> draw_deadlines(trace::Trace& trace, const perf::Catalogue& catalogue,
                                      const DeadlineOptions& options);

}  // namespace almanac::experiment
