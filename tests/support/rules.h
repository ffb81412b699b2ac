// SPDX-License-Identifier: Apache-2.0

/// \file
/// What must hold after any simulation under any policy, recounted from what the witness saw.
#pragma once

#include <string>
#include <vector>

#include "support/play.h"

namespace almanac {

/// The rules that `played` breaks, one sentence each; empty = all is well. With capacity changes
/// the number of GPUs in service is not recounted, and jobs of a virtual cluster that stays
/// smaller than it was may be left waiting.
///
/// - a GPU serves one job at a time, a job holds GPUs of its own virtual cluster only;
/// - a job holds all the GPUs that it asks for, of types that it accepts, or none;
/// - no node gives away more cores and memory than it has, whenever jobs are resized;
/// - every job ends, or is told why it never can, and never both; CPU jobs are left alone where no
///   node says how many cores it has;
/// - no job starts before it is submitted or holds GPUs twice at once;
/// - no job runs on a node that sleeps or boots, and a job bound to one begins when it is
///   on;
/// - a job runs for its run time plus what restarts and launches are charged, where each runs as
///   recorded;
/// - results, samples and integrals tell the same story as the runs.
std::vector<std::string> broken_rules(const Case& input, const Played& played);

}  // namespace almanac
