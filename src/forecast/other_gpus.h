// SPDX-License-Identifier: Apache-2.0

/// \file
/// What if the job requested another number of GPUs? The same futures are simulated again for each
/// number, with the same draws for all jobs, so that two answers differ by the GPUs and not by
/// chance.
///
/// The job then requests exactly this number of GPUs, with the same cores and memory per GPU, and
/// runs at the speed that `speeds` gives. A policy with an estimate scales it accordingly.
///
/// Cost     that of futures.h for each number of GPUs, plus a copy of the trace.
#pragma once

#include <vector>

#include "forecast/futures.h"
#include "schedule/speed_book.h"

namespace almanac::forecast {

struct OtherGpus {
  int gpus = 0;
  Forecast forecast;
};

/// Fewest GPUs first: powers of two up to what the job allows (Request::max_gpus), otherwise up to
/// the size of a node, and no more than its batch has samples; without its own number. Empty if its
/// scaling is unknown: no speeds (null), or a job that neither leaves its GPUs open nor gives batch
/// size and steps. If Setting::options has speeds, `speeds` must be those.
std::vector<OtherGpus> with_other_gpus(const Setting& setting, const schedule::SpeedBook* speeds,
                                       const sim::Present& present, const Beliefs& beliefs,
                                       JobId job, int futures, std::uint64_t seed);

/// Whether `job` may start one day, whatever ends.
bool fits(const trace::Trace& trace, const cluster::Cluster& cluster, JobId job);

/// Returns the trace in which `job` requests exactly `gpus` GPUs, with the same cores and memory
/// per GPU. Cost: a copy.
trace::Trace asking(const trace::Trace& trace, JobId job, int gpus);
/// Returns its speed there, relative to its request in the trace of `speeds`.
double rate_with(const schedule::SpeedBook& speeds, const cluster::Cluster& cluster, JobId job,
                 int gpus);

}  // namespace almanac::forecast
