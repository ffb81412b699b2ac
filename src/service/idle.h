// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that hold GPUs which do not compute: what is done about them, and when.
///
/// Only what is measured counts as idle: a job of whose GPUs nothing is told, or that shares them
/// and does not say itself how busy it keeps them, is left alone.
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

/// What is done: nothing; it is written down what would be; its user hears of it; after a grace it
/// is requeued, if it asked --requeue, and else its user hears of it.
enum class IdleMode : std::uint8_t { off, dry, notify, requeue };

struct IdleRule {
  IdleMode mode = IdleMode::off;
  Duration after = 30min;          ///< Idle for so long, it is spoken of.
  Duration grace = 10min;          ///< Between that and the requeue.
  double below = 0.01;             ///< Share of the time in which its GPUs compute: idle is less.
  std::set<std::string> exempt{};  ///< Users who are left alone.
  std::set<std::string> only{};    ///< A canary: only these users'; none = everybody's.
  std::string hook{};              ///< Run by /bin/sh when a user is to hear of it; "" = none.

  bool is_for(const std::string& user) const;
};

/// `mode`, `after_min`, `grace_min`, `below`, `exempt`, `only`, `hook`. Fails with not_found or
/// invalid, naming the line.
Result<IdleRule> read_idle_rule(const std::string& path);

/// A word to a user about a job.
struct IdleLetter {
  std::string user{};
  store::JobNumber job{};
  std::string text{};
};

/// Runs the rule's hook with ALMANAC_USER, ALMANAC_JOB_ID and ALMANAC_TEXT; waits ten seconds for
/// it at most, or until `stop` is rung (null = never). Fails as process::capture() does, and with
/// unavailable when it ends badly.
Result<void> send(const IdleRule& rule, const IdleLetter& letter,
                  const process::Bell* stop = nullptr);

/// What a look at a job asks for.
enum class IdleStep : std::uint8_t { nothing, warn, act, busy_again };

/// Of each job since when its GPUs are idle. Not thread-safe.
class IdleWatch {
 public:
  explicit IdleWatch(IdleRule rule) : rule_(std::move(rule)) {}

  const IdleRule& rule() const { return rule_; }
  /// Its GPUs were so busy in that stretch, in run number `attempt` of the job. A stretch that is
  /// not behind the one before begins anew: between them nothing was looked at.
  IdleStep take(store::JobNumber job, std::int32_t attempt, const perf::Stretch& use);
  /// Keeps of what is known only what is about these jobs.
  void keep_only(const std::set<store::JobNumber>& running);

 private:
  struct Seen {
    std::int32_t attempt = 0;
    Time since = kNoTime;  ///< kNoTime = it is busy.
    Time until{};
    Time warned = kNoTime;
    bool acted = false;
  };

  IdleRule rule_;
  std::map<store::JobNumber, Seen> seen_;
};

}  // namespace almanac::service
