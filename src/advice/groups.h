// SPDX-License-Identifier: Apache-2.0

/// \file
/// Groups of jobs, how long each waits before and after a change, and which ones lose.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/names.h"
#include "trace/job.h"

namespace almanac::advice {

enum class GroupKind : std::uint8_t {
  user,
  size,       ///< By GPUs requested: 0, 1, 2, 3 to 4, 5 to 8, ...
  partition,  ///< By virtual cluster.
  habit,      ///< By how many of the jobs are their user's.
};

/// Jobs that have something in common, and their mean waits.
struct Group {
  GroupKind kind{};
  std::string who{};  ///< "user ann", "jobs of 9 to 16 GPUs", "jobs in gpu".
  std::int64_t jobs = 0;
  double before_s = 0;
  double after_s = 0;

  double more_s() const { return after_s - before_s; }
  bool is_user() const { return kind == GroupKind::user; }
  /// Whether the jobs would wait longer by kRatio and kMore_s at least, and are at least kFewest.
  bool loses() const;

  static constexpr double kRatio = 1.25;
  static constexpr double kMore_s = 600;
  static constexpr std::int64_t kFewest = 10;  ///< An average of fewer jobs says nothing.
};

/// A job that counts: its wait before and after.
struct Waited {
  const trace::Request* request = nullptr;
  double before_s = 0;
  double after_s = 0;
};

/// The upper end of a size: 0 for CPU jobs, then 1, 2, 4, 8, 16 ... GPUs.
int size_class(int gpus);
/// Returns "CPU jobs", "jobs of 1 GPU", "jobs of 5 to 8 GPUs".
std::string size_name(int size_class);

/// Returns all groups, kind by kind; sizes in ascending order, others by name.
std::vector<Group> groups_of(std::span<const Waited> jobs, const Names& names);

/// Returns the groups that lose: users first, then classes; of each kind, those that lose most
/// job-seconds first. A partition or habit that has all jobs is no class.
std::vector<Group> losers_of(std::span<const Waited> jobs, const Names& names);

}  // namespace almanac::advice
