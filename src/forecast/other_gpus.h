// SPDX-License-Identifier: Apache-2.0

/// \file
/// What if the job asked another number of GPUs? The same futures are played again with each: the
/// same draws for all jobs, so that two answers differ by the GPUs and not by luck.
///
/// The job then asks exactly so many GPUs, with as much of cores and memory for each, and runs at
/// the speed that `speeds` give it there. A policy with an estimate believes it to be so much
/// shorter or longer.
///
/// Cost     as futures.h, once more a number of GPUs, and a copy of the trace.
#pragma once

#include <vector>

#include "forecast/futures.h"
#include "schedule/speed_book.h"

namespace almanac::forecast {

struct OtherGpus {
  int gpus = 0;
  Forecast forecast;
};

/// Fewest GPUs first: powers of two up to what the job leaves open (Request::max_gpus), else up to
/// what a node has, and no more than its batch has samples; what it asks is left out. None where
/// its scaling is not known: no speeds (null), or a job that neither leaves its GPUs open nor tells
/// its batch and steps. Where Setting::options has speeds, `speeds` must be those.
std::vector<OtherGpus> with_other_gpus(const Setting& setting, const schedule::SpeedBook* speeds,
                                       const sim::Present& present, const Beliefs& beliefs,
                                       JobId job, int futures, std::uint64_t seed);

/// Whether `job` may start one day, whatever ends.
bool fits(const trace::Trace& trace, const cluster::Cluster& cluster, JobId job);

/// The trace in which `job` asks `gpus` GPUs, with as much of cores and memory for each, and leaves
/// nothing open. Cost: a copy.
trace::Trace asking(const trace::Trace& trace, JobId job, int gpus);
/// What it runs at there, beside what it asks in the trace of `speeds`.
double rate_with(const schedule::SpeedBook& speeds, const cluster::Cluster& cluster, JobId job,
                 int gpus);

}  // namespace almanac::forecast
