// SPDX-License-Identifier: Apache-2.0

/// \file
/// Used against allocated resources of jobs and users: cores, memory, GPUs with their memory,
/// energy, and the time limit.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/time.h"

namespace almanac::study {

/// An ended or running job. NaN, or kNoDuration, for what the log does not give.
struct JobUse {
  std::string id{};
  std::string name{};
  std::string user{};
  std::string partition{};
  std::string state{};
  Time submit = kNoTime;
  Duration elapsed{0};  ///< Over all its runs.
  Duration longest{0};  ///< Longest run of a job with several runs; 0 if it ran once.
  Duration limit = kNoDuration;
  double cores = 0;
  double gpus = 0;
  double memory_gb = 0;       ///< Held, of 1024 MiB.
  double cores_used = 0;      ///< On average.
  double memory_used_gb = 0;  ///< At most.
  std::string gpu_type{};     ///< "a100"; several as "a100|h100"; "" if unknown.
  double gpu_use = kUnknown;  ///< Share of the time in which its GPUs computed, their mean.
  /// Whether `gpu_use` is only the last sample, because Slurm's accounting keeps no mean.
  bool gpu_use_is_sample = false;
  double gpu_use_at_most = kUnknown;  ///< The same at its highest sample.
  double gpu_memory_gb = kUnknown;    ///< At most, over all its GPUs.
  double energy_j = kUnknown;

  /// More cores or memory than it held by more than rounding: it was not confined to them, or the
  /// accounting is wrong. Sums count it as having used all.
  bool used_more_cores() const { return core_share() > kAllAndRounding; }
  bool used_more_memory() const { return memory_share() > kAllAndRounding; }

  double core_share() const { return cores_used / cores; }
  double memory_share() const { return memory_used_gb / memory_gb; }
  /// A limit holds for each run.
  Duration longest_run() const { return longest > Duration{0} ? longest : elapsed; }
  double time_share() const;
  double gpu_hours() const { return gpus * seconds(elapsed) / 3600; }
  /// Of its GPUs, as gpu_use says; 0 if unknown.
  double idle_gpu_hours() const;
  /// Core-hours, likewise.
  double idle_core_hours() const;
  /// Whether its GPUs are known to have never computed: 0 at every sample, or less than 1 % of the
  /// time on average. The last sample alone does not say so.
  bool left_gpus_unused() const;
  /// Returns an upper bound of its mean GPU use: the mean, or the highest sample; NaN if unknown.
  double gpu_use_bound() const { return gpu_use_is_sample ? gpu_use_at_most : gpu_use; }
  /// Whether left_gpus_unused() could be true.
  bool knows_unused_gpus() const;

  static constexpr double kAllAndRounding = 1.05;
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  /// GPUs that compute for less of the time are not used. service::IdleRule has the same default.
  static constexpr double kUnused = 0.01;
};

/// The jobs of a user, those that ran for a minute or longer.
struct UserUse {
  std::string user{};
  int jobs = 0;
  double core_hours = 0;               ///< Held by jobs whose use of cores is known.
  double core_hours_unused = 0;        ///< Of these.
  double gpu_hours = 0;                ///< Held, known or not.
  double gpu_hours_known = 0;          ///< Held by jobs whose use of GPUs is known.
  double gpu_hours_unused = 0;         ///< Of these, time in which the GPUs did not compute.
  int jobs_at_zero = 0;                ///< Jobs whose GPUs never computed.
  double gpu_hours_at_zero = 0;        ///< Held by those jobs.
  double gpu_hours_judged = 0;         ///< Held by jobs of which it is known whether they are such.
  double gb_hours = 0;                 ///< Of jobs with known memory use.
  double gb_hours_unused = 0;          ///< Of these, never used at any time.
  double memory_share = 0;             ///< Median of the jobs with a value; NaN if none has one.
  double time_share = 0;               ///< Likewise, of their limits.
  double energy_j = JobUse::kUnknown;  ///< Of the jobs whose energy is known.
};

/// By GPU-hours and core-hours that were not used, the most first.
std::vector<UserUse> by_user(const std::vector<JobUse>& jobs);

/// Sorts jobs by GPU-hours, then by core-hours that were not used, the most first.
void sort_by_waste(std::vector<JobUse>& jobs);

}  // namespace almanac::study
