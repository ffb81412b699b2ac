// SPDX-License-Identifier: Apache-2.0

/// \file
/// Determines the cause of a failed start (the job, its user's account, or the machine) and the
/// time of the next try. Each backs off separately, so that one job or one account does not keep
/// others from starting.
///
/// The cause is often known: the account is missing, or a folder is in the way. If a shepherd exits
/// without a message, its job is to blame at first; the machine is to blame as soon as another job
/// fails in the same way without a successful start in between.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "process/user.h"
#include "store/job.h"

namespace almanac::machine {

/// Returns the pause after this many failures in a row: 1 s, 2 s, 4 s, ... up to 5 minutes.
Duration pause_before_start(int failures);

/// Jobs that failed to start for reasons of their own. Not thread-safe.
class JobStarts {
 public:
  struct Next {
    Time again{};
    bool gives_up = false;
  };
  /// Records a failed start. Gives up after kTries. A try counts only if some start has succeeded
  /// since the previous one, or if `is_certain`: while no start succeeds, the job is not to blame.
  Next failed(store::JobNumber job, const std::string& why, bool is_certain, Time now);
  /// Whether several jobs have failed since the last successful start.
  bool are_several() const { return since_worked_ > 1; }
  /// Records that a job has started, and forgets its failures.
  void worked(store::JobNumber job);
  void forget(store::JobNumber job) { jobs_.erase(job); }
  /// Returns why the last start of a job failed; null if none has.
  const std::string* why(store::JobNumber job) const;

  static constexpr int kTries = 8;

 private:
  struct Failed {
    int tries = 0;           // in a row
    int blamed = 0;          // of these, those that count
    std::uint64_t seen = 0;  // `worked_` at that time
    std::string why{};
  };
  std::map<store::JobNumber, Failed> jobs_;
  std::uint64_t worked_ = 0;
  int since_worked_ = 0;  // jobs that failed since then
  std::optional<store::JobNumber> last_;
};

/// Accounts that the system does not know. While an account is blocked, none of its jobs starts,
/// and another thread checks whether it is back. Not thread-safe.
class Accounts {
 public:
  /// Checks whether the system knows a user, like process::groups_of(); may take long.
  using Ask = Result<void> (*)(std::uint32_t uid);
  explicit Accounts(Ask ask);

  /// Records a start that failed because the account is missing. Returns whether it was open until
  /// now.
  bool failed(std::uint32_t uid, const std::string& user, const std::string& why, Time now);
  /// Records that a job of the account has started.
  void worked(std::uint32_t uid);
  bool is_closed(std::uint32_t uid) const;
  /// For a blocked account, returns "the system has no user 1002; the next look is at ...".
  std::string why(std::uint32_t uid) const;
  /// Returns one line for each blocked account, at most three.
  std::vector<std::string> warnings() const;

  struct News {
    std::vector<std::uint32_t> open{};  ///< Accounts that may start jobs again.
    /// Accounts that did not come back, with the reason: jobs that wait for them have failed.
    std::map<std::uint32_t, std::string> given_up{};
  };
  /// Starts checks that are due, and returns the results of earlier ones. Does not block.
  News look(Time now);
  /// Returns when look() has something to do; kNever if no account is blocked.
  Time due(Time now) const;

  /// Tries for an account that the system does not know, about four minutes ...
  static constexpr int kUnknownTries = 8;
  /// ... and for one whose directory service does not answer, about an hour.
  static constexpr int kTries = 20;

 private:
  struct Account {
    std::string user{};
    std::string why{};
    int tries = 0;    // in a row
    int unknown = 0;  // of these, those that the directory reported as unknown
    bool is_closed = false;
    Time again{};
    std::shared_ptr<std::promise<Result<void>>> asks{};
    std::future<Result<void>> answer{};
  };
  void close(Account& account, const Error& why, Time now);
  bool gives_up(const Account& account) const {
    return account.unknown >= kUnknownTries || account.tries >= kTries;
  }

  Ask ask_;
  std::map<std::uint32_t, Account> accounts_;
};

/// Asks the user directory of the system.
Result<void> ask_for_user(std::uint32_t uid);

}  // namespace almanac::machine
