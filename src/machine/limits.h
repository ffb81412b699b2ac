// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits for each user, and for all users together, so that no user can fill the machine.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "store/job.h"

namespace almanac::machine {

struct UserLimits {
  /// Waiting or running; each task of an array counts.
  std::int64_t jobs = 50'000;
  int submissions_per_minute = 600;
  int tasks = 100'000;                         ///< Per array.
  int gpus = std::numeric_limits<int>::max();  ///< Per job.
  Duration time = kNoDuration;  ///< Per job; also the default for jobs without a time limit.
  /// Processes, including threads, that a user may have when one of the user's jobs starts.
  std::int64_t processes = 32'768;
};

struct Limits {
  std::int64_t jobs = 200'000;  ///< Of all users together.
  UserLimits user{};
  std::map<std::string, UserLimits> users{};  ///< Users with limits of their own.

  const UserLimits& of(const std::string& user) const;
};

/// Reads `[site] jobs`, `[user]` and `[users.ann]` with jobs, submissions_per_minute, tasks, gpus,
/// time_h and processes. Fails with `not_found`, or `invalid` naming the line.
Result<Limits> read_limits(const std::string& path);

/// Accepts submissions, or says why not. Not thread-safe.
class Gate {
 public:
  explicit Gate(Limits limits) : limits_(std::move(limits)) {}

  /// Counts a job that joins (+1) or leaves (-1) the waiting and running jobs.
  void count(const store::Job& job, int sign);
  /// Fails with `usage` if the submission can never be accepted, with `conflict` if it may be
  /// later. `since_boot` comes from a clock that cannot be set. Root and the service's user have
  /// no rate limit.
  Result<void> let_in(const store::Submission& asked, Duration since_boot);
  /// Checks the limits of a single job. Fails with `usage`.
  Result<void> may_ask(const store::Submission& asked) const;
  /// Returns the time limit that the job gets.
  Duration time_limit(const store::Submission& asked) const;
  std::int64_t processes(const store::Submission& asked) const {
    return limits_.of(asked.user).processes;
  }

 private:
  struct Pace {
    double left = 0;
    Duration seen{};
  };

  Limits limits_;
  std::int64_t jobs_ = 0;
  std::map<std::string, std::int64_t> of_users_;
  std::map<std::string, Pace> paces_;
};

}  // namespace almanac::machine
