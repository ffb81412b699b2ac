// SPDX-License-Identifier: Apache-2.0

/// \file
/// Used against allocated resources of jobs and users: cores, memory, GPUs, and the time limit.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace almanac::study {

/// An ended or running job. NaN, or kNoDuration, for what the log does not give.
struct JobUse {
  std::string id{};
  std::string name{};
  std::string user{};
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
  double gpu_use = 0;         ///< Share of the time in which its GPUs computed, their mean.

  /// More cores or memory than it held by more than rounding: it was not confined to them, or the
  /// accounting is wrong. Sums count it as having used all.
  bool used_more_cores() const { return core_share() > kAllAndRounding; }
  bool used_more_memory() const { return memory_share() > kAllAndRounding; }

  double core_share() const { return cores_used / cores; }
  double memory_share() const { return memory_used_gb / memory_gb; }
  /// A limit holds for each run.
  Duration longest_run() const { return longest > Duration{0} ? longest : elapsed; }
  double time_share() const;

  static constexpr double kAllAndRounding = 1.05;
};

/// The jobs of a user, those that ran for a minute or longer.
struct UserUse {
  std::string user{};
  int jobs = 0;
  double core_hours = 0;         ///< Held by jobs whose use of cores is known.
  double core_hours_unused = 0;  ///< Of these.
  double gpu_hours = 0;          ///< Held, known or not.
  double gpu_hours_known = 0;    ///< Held by jobs whose use of GPUs is known.
  double gpu_hours_unused = 0;   ///< Of these, time in which the GPUs did not compute.
  double gb_hours = 0;           ///< Of jobs with known memory use.
  double gb_hours_unused = 0;    ///< Of these, never used at any time.
  double memory_share = 0;       ///< Median of the jobs with a value; NaN if none has one.
  double time_share = 0;         ///< Likewise, of their limits.
};

/// By GPU-hours and core-hours that were not used, the most first.
std::vector<UserUse> by_user(const std::vector<JobUse>& jobs);

}  // namespace almanac::study
