// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many replicas requests need: those of a log, and those that may follow it.
#pragma once

#include "base/result.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

struct SizeQuestion {
  Objective objective{};
  double share = 0.9;  ///< Of the requests that must meet it.
  int most = 64;       ///< Replicas.
  bool split = false;  ///< Some replicas compute prompts for the others.
  /// Part of the logs that may follow which must be served so too; 0 = the log alone counts.
  double confidence = 0.95;
};

/// A fleet, and how sure that it is enough.
struct Size {
  int replicas = 0;
  int prefill = 0;  ///< As Service has it.
  int for_log = 0;  ///< Replicas that are enough for the log alone.
  int drawn = 0;    ///< Logs that were drawn; 0 = only the log was looked at.
  int served = 0;   ///< Of these, as asked.
};

/// The fewest replicas, divided as is best, that serve the log as asked and, of 20 logs that may
/// follow it, as many as the confidence says. Such a log is drawn as fit_workload(), following()
/// and generate() have it. No smaller fleet is enough: up to 8 replicas all are tried; beyond, the
/// number for the log is found by doubling and halving, with the three below it tried too, for one
/// replica more may harm.
///
/// Fails with unavailable where `most` are not enough, and as play() does; with invalid where the
/// log tells too little to draw others from. Cost: some tens of runs of the log, on all cores; with
/// `split` as many for each division.
Result<Size> size_fleet(Service service, const Requests& requests, const SizeQuestion& asked);

}  // namespace almanac::inference
