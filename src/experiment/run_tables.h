// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tables of a run, one row a job and one a sample; docs/reference/formats.md describes them.
#pragma once

#include <string>

#include "base/result.h"
#include "experiment/experiment.h"

namespace almanac::experiment {

/// Writes jobs.csv. Columns of cores and speeds exist only if those are simulated.
Result<void> write_jobs(const std::string& path, const Prepared& prepared,
                        const sim::Schedule& schedule);

/// waits.csv.zst: why jobs waited, a row a stretch, by job in order of submission; at the end a row
/// without until_s for each job that can never start.
Result<void> write_waits(const std::string& path, const Prepared& prepared,
                         const sim::Schedule& schedule);

/// failures.csv: a row for each time that a failure stopped a job, in order of time.
Result<void> write_failures(const std::string& path, const Prepared& prepared,
                            const sim::Schedule& schedule);

/// timeline.csv.
Result<void> write_timeline(const std::string& path, const Prepared& prepared,
                            const sim::Schedule& schedule);

}  // namespace almanac::experiment
