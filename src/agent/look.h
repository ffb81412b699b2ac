// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an agent observes of its node and of Slurm's jobs on it. A source that is missing is left
/// out of the report: the driver, counters of memory traffic and processor time, pressure.
///
/// A job can report its own GPU use by writing "gpu_use 0.83" into the file PROGRESS/JOB. The file
/// must belong to a user whose processes are in the job.
///
/// Cost     every five seconds: some files per job, one query per GPU, one pass over the job's
///          processes if memory traffic is counted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/job_groups.h"
#include "agent/limits.h"
#include "agent/wire.h"
#include "gpu/driver.h"
#include "perf/own_word.h"
#include "process/memory_traffic.h"

namespace almanac::agent {

/// Paths, on a machine or in a test.
struct Places {
  std::string pressure = "/proc/pressure";
  std::string load = "/proc/loadavg";
  std::string resctrl = "/sys/fs/resctrl";
  std::string progress{};  ///< "" if jobs do not report their use.
};

class Look {
 public:
  Look(Places places, const std::string& node);

  /// `now` must never go back. Includes what `limits` knows about jobs.
  Report look(Time now, const std::vector<JobGroups>& jobs, const Limits& limits);

 private:
  struct Seen {
    Time at{};
    std::optional<double> cpu_s{};
    std::optional<double> moved_gb{};
    perf::OwnWord word{Time{}};
  };

  JobReport look_at(const JobGroups& job, Time now, const Limits& limits);
  void listen(const JobGroups& job, Time now, Seen& seen, JobReport& report) const;
  void count_traffic(Time now, const std::vector<JobGroups>& jobs, Report& report);
  /// Files of jobs that have gone are of no use.
  void forget_gone(const std::vector<JobGroups>& jobs);

  Places places_;
  std::unique_ptr<gpu::Driver> driver_;
  std::optional<process::MemoryTraffic> traffic_;
  std::map<manager::JobNumber, Seen> seen_;
  Time last_ = kNoTime;
  std::optional<double> moved_gb_;  // by all of the node
};

/// "some avg10" of a file of pressure stall information, as a share of the time.
///
/// Source   Linux, Documentation/accounting/psi.rst.
std::optional<double> pressure_in(const std::string& path);

}  // namespace almanac::agent
