// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policies that the tick engine was published with, and ours on it.
#pragma once

#include <cstdint>
#include <memory>

#include "tick/engine.h"

namespace almanac::elastic {

/// GPUs one by one to the job whose remaining time they shorten most; the batch stays as asked.
/// Source   Peng et al., EuroSys'18 (Optimus), with the true remaining work and step times.
std::unique_ptr<TickPolicy> make_optimus();

/// As asked, in two queues: a job that has run for 16 GPU-hours goes behind all that have not.
/// Source   Gu et al., NSDI'19 (Tiresias).
std::unique_ptr<TickPolicy> make_tiresias();

struct PolluxOptions {
  std::uint64_t seed = 1;
  bool avoids_interference = true;  ///< At most one job that runs on several nodes on each node.
};

/// GPUs by a genetic search for the best mean of goodputs; batches by goodput. What jobs report is
/// all it knows.
/// Source   Qiao et al., OSDI'21 (Pollux), section 4.2.
std::unique_ptr<TickPolicy> make_pollux(PolluxOptions options);

/// Ours: GPUs so that jobs end soon (deal_ahead.h). What the jobs of an application report is one
/// belief, by which its later jobs start; a job says how long it is to train, and nothing else.
std::unique_ptr<TickPolicy> make_hasten();

}  // namespace almanac::elastic
