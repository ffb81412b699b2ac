// SPDX-License-Identifier: Apache-2.0

/// \file
/// What each user may ask of one machine, and all of them together, so that nobody fills it up for
/// the others.
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
  std::int64_t jobs = 50'000;  ///< That wait or run; each task of an array is one.
  int submissions_per_minute = 600;
  int tasks = 100'000;                         ///< Of one array.
  int gpus = std::numeric_limits<int>::max();  ///< Of one job.
  Duration time = kNoDuration;                 ///< Of one job; one that says none has this.
  std::int64_t processes = 32'768;  ///< That a job's user may have when it starts another, threads
                                    ///< counted.
};

struct Limits {
  std::int64_t jobs = 200'000;  ///< Of all users together.
  UserLimits user{};
  std::map<std::string, UserLimits> users{};  ///< Of those who have others.

  const UserLimits& of(const std::string& user) const;
};

/// `[site] jobs`, `[user]` and `[users.ann]` with jobs, submissions_per_minute, tasks, gpus,
/// time_h, processes. Fails with not_found or invalid, naming the line.
Result<Limits> read_limits(const std::string& path);

/// Lets submissions in, or says why not. Not thread-safe.
class Gate {
 public:
  explicit Gate(Limits limits) : limits_(std::move(limits)) {}

  /// A job joins those that wait or run, or leaves them.
  void count(const store::Job& job, int sign);
  /// Fails with usage for what will never be let in, with conflict for what may be later.
  /// `since_boot` is a clock that nobody sets. Root and who runs the service may submit as fast as
  /// they like.
  Result<void> let_in(const store::Submission& asked, Duration since_boot);
  /// What one job may ask. Fails with usage.
  Result<void> may_ask(const store::Submission& asked) const;
  /// The time limit that a job has.
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
