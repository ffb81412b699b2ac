// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tables of a run, one row a job and one a sample; docs/formats.md describes them.
#pragma once

#include <string>

#include "base/result.h"
#include "sim/experiment.h"

namespace almanac::sim {

/// jobs.csv. Columns of cores and of speeds are there only where those are simulated.
Result<void> write_jobs(const std::string& path, const Prepared& prepared,
                        const Schedule& schedule);

/// timeline.csv.
Result<void> write_timeline(const std::string& path, const Prepared& prepared,
                            const Schedule& schedule);

}  // namespace almanac::sim
