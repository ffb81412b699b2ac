// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rule for jobs whose GPUs are idle: what the service does about them, and when.
///
/// Only measured GPUs count as idle. A job is ignored if its GPUs are not measured, or if it shares
/// them and does not report how busy it keeps them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "perf/stretch.h"
#include "process/bell.h"
#include "store/job.h"

namespace almanac::service {

/// What the service does: nothing; log what it would do; notify the user; requeue the job after a
/// grace period if it was submitted with --requeue, else notify the user.
enum class IdleMode : std::uint8_t { off, dry, notify, requeue };

struct IdleRule {
  IdleMode mode = IdleMode::off;
  Duration after = 30min;  ///< Idle time before the first action.
  Duration grace = 10min;  ///< Time between the notification and the requeue.
  double below = 0.01;     ///< GPUs are idle if they compute for a smaller share of the time.
  std::set<std::string> exempt{};  ///< Users whose jobs are ignored.
  std::set<std::string> only{};    ///< A canary: only jobs of these users; empty = of all users.
  std::string hook{};              ///< Command for /bin/sh that notifies a user; "" for none.

  bool is_for(const std::string& user) const;
};

/// `mode`, `after_min`, `grace_min`, `below`, `exempt`, `only`, `hook`. Fails with not_found or
/// invalid, naming the line.
Result<IdleRule> read_idle_rule(const std::string& path);

/// A notification of a user about a job.
struct IdleLetter {
  std::string user{};
  store::JobNumber job{};
  std::string text{};
};

/// Runs the rule's hook with ALMANAC_USER, ALMANAC_JOB_ID and ALMANAC_TEXT; waits for at most ten
/// seconds, or until `stop` is rung (null: never). Fails as process::capture() does, and with
/// unavailable if the hook fails.
Result<void> send(const IdleRule& rule, const IdleLetter& letter,
                  const process::Bell* stop = nullptr);

/// What to do about a job.
enum class IdleStep : std::uint8_t { nothing, warn, act, busy_again };

/// Tracks since when the GPUs of each job are idle. Not thread-safe.
class IdleWatch {
 public:
  explicit IdleWatch(IdleRule rule) : rule_(std::move(rule)) {}

  const IdleRule& rule() const { return rule_; }
  /// Notes how busy the GPUs were in an interval of run number `attempt`. If the interval does not
  /// follow the one before, the count starts again, because nothing was measured between them.
  IdleStep take(store::JobNumber job, std::int32_t attempt, const perf::Stretch& use);
  /// Forgets all other jobs.
  void keep_only(const std::set<store::JobNumber>& running);

 private:
  struct Seen {
    std::int32_t attempt = 0;
    Time since = kNoTime;  ///< kNoTime if it is busy.
    Time until{};
    Time warned = kNoTime;
    bool acted = false;
  };

  IdleRule rule_;
  std::map<store::JobNumber, Seen> seen_;
};

}  // namespace almanac::service
