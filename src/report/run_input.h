// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is the same under every policy of a run: groups of jobs, the GPU time they request, and the
/// format of moments.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace almanac::report {

/// Groups of jobs, for example by user or by size.
struct Grouping {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::string> names{};
  std::vector<std::int64_t> jobs{};     ///< GPU jobs, by group.
  std::vector<double> gpu_s{};          ///< GPUs times run time in the log, by group.
  std::vector<std::uint32_t> of_job{};  ///< Group of each job of the trace; kNone for CPU jobs.
  bool told_apart() const { return names.size() > 1; }
};

enum class By : std::uint8_t { user, vc, size, length, model };
inline constexpr std::size_t kNumGroupings = static_cast<std::size_t>(By::model) + 1;

/// Classes of run times as in the Helios paper: below 15 minutes, up to 6 hours, longer.
/// Source   Hu et al., SC'21, section 4.2.3.
inline constexpr std::array<const char*, 3> kLengths{"under 15 min", "15 min to 6 h", "over 6 h"};

/// A view of a prepared run, which must outlive it. Takes 24 bytes per job.
class RunInput {
 public:
  explicit RunInput(const experiment::Prepared& prepared);

  const experiment::Prepared& prepared() const { return *prepared_; }
  const trace::Trace& trace() const { return prepared_->trace; }
  const cluster::Cluster& cluster() const { return prepared_->cluster; }
  std::size_t policies() const { return prepared_->runs.size(); }
  const Grouping& by(By by) const { return groupings_[static_cast<std::size_t>(by)]; }
  /// Returns the virtual cluster whose nodes serve the job; kNoVc if the cluster has none for it.
  VcId vc(std::size_t job) const { return vc_of_job_[job]; }
  std::int64_t gpu_jobs() const { return gpu_jobs_; }
  /// Returns the number of simulated jobs without GPUs.
  std::int64_t cpu_jobs() const { return cpu_jobs_; }

 private:
  const experiment::Prepared* prepared_;
  std::array<Grouping, kNumGroupings> groupings_;
  std::vector<VcId> vc_of_job_;
  std::int64_t gpu_jobs_ = 0;
  std::int64_t cpu_jobs_ = 0;
};

/// Returns "2020-09-02 12:25", or "3d 02h" for a trace that counts from 0.
std::string moment(Time at);

}  // namespace almanac::report
