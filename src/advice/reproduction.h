// SPDX-License-Identifier: Apache-2.0

/// \file
/// How well a simulation of today's Slurm reproduces the waits that a log records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advice/play.h"

namespace almanac::advice {

/// A simulated wait is near the recorded one if they differ by at most this.
inline constexpr double kNear_s = 600;

/// Of the jobs with a recorded start.
struct Fit {
  std::string who{};  ///< "all jobs", "jobs in gpu", "jobs of 5 to 8 GPUs".
  std::int64_t jobs = 0;
  std::int64_t waited = 0;  ///< Number that waited longer than kNear_s, as recorded or simulated.
  double near = 0;          ///< Fraction whose waits differ by at most kNear_s.
  double tenth = 0;  ///< Fraction whose waits differ by at most 10 % of the recorded one, or by a
                     ///< minute.
  double recorded_s = 0;  ///< Mean waits.
  double simulated_s = 0;
};

/// Why a wait may differ, as far as the log shows it.
enum class Cause : std::uint8_t {
  reservation,
  dependency,
  hold,   ///< Held, or a begin time.
  limit,  ///< Of an association, a QOS, a partition or licenses.
  nodes,  ///< It asked for certain nodes or features, or its nodes were out.
  requeue,
  unknown,
};

/// Returns "reservation", "dependency", "hold or begin time", ...
std::string_view to_string(Cause cause);

/// A job whose waits differ by more than kNear_s.
struct Missed {
  std::string job{};  ///< Its id in the log.
  double recorded_s = 0;
  double simulated_s = 0;
  Cause cause{};
};

/// What changes if the controller's passes and cycles fall at other seconds, which no log records:
/// an error that no setting of the site explains.
struct PhaseEffect {
  double shift_s = 0;      ///< By how much later they fall: half of bf_interval.
  double changed = 0;      ///< Fraction of jobs whose waits change by more than kNear_s.
  double simulated_s = 0;  ///< Mean wait with the shift.
};

struct Reproduction {
  Fit all{};
  std::optional<PhaseEffect> phase{};  ///< Nothing if today's scheduler has no cycles.
  std::vector<Fit> partitions{};       ///< Empty if there is only one.
  std::vector<Fit> sizes{};
  /// Number of missed jobs by cause, the most frequent first.
  std::vector<std::pair<Cause, std::int64_t>> causes{};
  std::vector<Missed> most{};  ///< The largest differences, at most kMostMissed.

  static constexpr std::size_t kMostMissed = 10;
};

/// Returns the likely cause of a difference: the first that the job's columns Reservation, Reason,
/// dependency, Restarts and Constraints show.
Cause cause_of(const trace::Job& job, const Names& names);

/// Returns how the waits of jobs under today's Slurm differ from `shifted`, the same with passes
/// and cycles `shift_s` later.
PhaseEffect phase_effect(const std::vector<Lived>& today, const std::vector<Lived>& shifted,
                         double shift_s);

/// Compares what `play` says happened with its jobs under today's Slurm. Jobs without a recorded
/// start are left out. Cost: O(jobs log jobs).
Reproduction reproduction_of(const Play& play, const std::vector<Lived>& today);

}  // namespace almanac::advice
