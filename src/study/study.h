// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job log as the figures see it: which jobs count, how long each took, and which columns the log
/// has.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::study {

struct GpuUse;
struct HostUse;
struct VcSeries;
struct Drawing;

/// Data that a figure may lack.
enum class Need : std::uint8_t {
  gpu_jobs,
  cpu_jobs,
  user,
  vc,
  state,
  start,
  nodes,
  cpus,
  attempts,
  machines,
  calendar,
  gpu_utilization,
  host_utilization,
  vc_series,
  job_logs,
  convergence,
};
inline constexpr std::size_t kNumNeeds = static_cast<std::size_t>(Need::convergence) + 1;

/// Returns the missing data in words: "user", "start_s (when a job began)".
std::string_view to_string(Need need);

/// How a job ended, the same in every figure, finding and table. A job that ran into its time limit
/// or was preempted has not failed: it may have done what it was for. A node failure is a failure.
/// Helios counts all of these as failed (Hu et al., SC'21, section 2.3 and its notebooks).
enum class Ending : std::uint8_t { completed, cancelled, failed, timed_out, preempted };
inline constexpr std::array kEndings{Ending::completed, Ending::cancelled, Ending::failed,
                                     Ending::timed_out, Ending::preempted};
std::string_view to_string(Ending ending);
/// Whether the papers report it; others are shown only if a log has them.
constexpr bool is_published(Ending ending) { return ending < Ending::timed_out; }
/// Returns nothing for a job with unknown state, or one that has not ended.
std::optional<Ending> ending_of(const trace::Job& job);

/// Measurements in addition to the job log; null if missing.
struct Measured {
  const GpuUse* gpu = nullptr;                 ///< study/gpu_use.h
  const HostUse* host = nullptr;               ///< study/host_use.h
  const std::vector<VcSeries>* vcs = nullptr;  ///< study/vc_series.h
  const Drawing* failures = nullptr;           ///< study/failure_table.h
};

/// The trace, its cluster and additional measurements. The trace and the cluster must outlive it.
///
/// Jobs that never ran are excluded everywhere: GPU jobs of 0 s (the Helios study excludes ten of
/// Philly's), and jobs without GPUs that have neither a start nor a run time.
///
/// Cost: 8 bytes per job beyond the trace.
class Study {
 public:
  Study(const trace::Trace& trace, const cluster::Cluster& cluster, Measured measured = {});

  const trace::Trace& trace() const { return trace_; }
  const cluster::Cluster& cluster() const { return cluster_; }
  const Measured& measured() const { return measured_; }

  /// Positions of the jobs with GPUs, and of those without, in order of submission.
  std::span<const std::uint32_t> gpu_jobs() const { return gpu_jobs_; }
  std::span<const std::uint32_t> cpu_jobs() const { return cpu_jobs_; }
  std::int64_t never_ran() const { return never_ran_; }
  const trace::Job& job(std::uint32_t position) const { return trace_.jobs[position]; }

  bool has(Need need) const { return has_[static_cast<std::size_t>(need)]; }

 private:
  const trace::Trace& trace_;
  const cluster::Cluster& cluster_;
  Measured measured_;
  std::vector<std::uint32_t> gpu_jobs_;
  std::vector<std::uint32_t> cpu_jobs_;
  std::int64_t never_ran_ = 0;
  std::array<bool, kNumNeeds> has_{};
};

/// Returns the time from the first start to the last end, including retries and the time between
/// them, the duration of both papers; the run time if the log does not have both.
Duration duration_of(const trace::Job& job);

/// Duration x GPUs, in GPU seconds.
double gpu_time(const trace::Job& job);

/// First start - submission; NaN when the log does not say.
double wait_s(const trace::Job& job);

}  // namespace almanac::study
