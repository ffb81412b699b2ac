// SPDX-License-Identifier: Apache-2.0

/// \file
/// The demand for nodes of a cluster with a job log, and what the log says about the coming hours:
/// running jobs that will end, jobs that wait, jobs that keep arriving.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "energy/regression.h"
#include "energy/series.h"

namespace almanac::energy {

/// A job that ran once, and its nodes.
struct LoggedJob {
  Time submit{};
  Time start{};
  Time end{};
  std::int32_t gpus = 0;
  std::uint32_t user = 0;
  std::vector<std::uint32_t> nodes;
};

/// Whether `path` is a table of jobs as a run leaves it (jobs.csv; docs/reference/formats.md).
Result<bool> is_job_log(const std::string& path);

/// Reads the jobs that ran, in order of submission. Fails with the line of a row that is damaged.
Result<std::vector<LoggedJob>> read_job_log(const std::string& path);

/// Values that job_outlook() gives for each step.
inline constexpr std::size_t kOutlookValues = 6;

/// A step's nodes in use and, of the end of each step, what is known then about `horizon` later.
struct JobDemand {
  /// One column: the most nodes in use at once during the step.
  Series nodes;
  Table outlook;  ///< kOutlookValues a step, in nodes.
};

/// Returns the demand and the outlook of each step: nodes and GPUs that running jobs are expected
/// to free by then, GPUs of waiting jobs, GPUs requested in the past hour and three hours, GPUs in
/// use. Whether a running job will have ended is predicted from runs of its user, and of jobs of
/// its size, that had ended by the step and lasted longer.
///
/// Cost: about a microsecond per running job and step.
/// Cost: about a microsecond a running job and step.
JobDemand job_demand(const std::vector<LoggedJob>& jobs, Duration step, std::size_t horizon);

/// The nodes alone, which takes no time.
Series node_demand(const std::vector<LoggedJob>& jobs, Duration step);
/// The nodes that jobs ran on.
std::size_t node_count(const std::vector<LoggedJob>& jobs);

}  // namespace almanac::energy
