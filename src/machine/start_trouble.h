// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who is to blame for a start that failed: the job, its user's account, or the machine; and when
/// the next try is due. Each backs off alone, so that one job or one account does not keep others
/// from starting.
///
/// The cause is often known (the account is missing, a folder is in the way). If a shepherd went
/// without a word, its job is to blame at first, and the machine as soon as another job fails the
/// same way with no start in between that worked.
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

/// The pause after so many failures in a row: 1 s, 2 s, 4 s, ... up to 5 minutes.
Duration pause_before_start(int failures);

/// Jobs that failed to start for reasons that do not concern other jobs. Not thread-safe.
class JobStarts {
 public:
  struct Next {
    Time again{};
    bool gives_up = false;
  };
  /// Notes that a start failed. Gives up after kTries. A try counts only if some start has worked
  /// since the one before, or if `is_certain`: while no start works, the job is not to blame.
  Next failed(store::JobNumber job, const std::string& why, bool is_certain, Time now);
  /// Whether several jobs have failed since a start worked last.
  bool are_several() const { return since_worked_ > 1; }
  /// Notes that a job has started, and forgets its failures.
  void worked(store::JobNumber job);
  void forget(store::JobNumber job) { jobs_.erase(job); }
  /// Why the last start of a job failed; null = none has.
  const std::string* why(store::JobNumber job) const;

  static constexpr int kTries = 8;

 private:
  struct Failed {
    int tries = 0;           // in a row
    int blamed = 0;          // of these, those that count
    std::uint64_t seen = 0;  // `worked_` then
    std::string why{};
  };
  std::map<store::JobNumber, Failed> jobs_;
  std::uint64_t worked_ = 0;
  int since_worked_ = 0;  // jobs that failed since
  std::optional<store::JobNumber> last_;
};

/// Accounts that the system does not know. While an account is closed, none of its jobs starts;
/// another thread asks whether it is back. Not thread-safe.
class Accounts {
 public:
  /// Answers whether the system knows a user, as process::groups_of() does; may take long.
  using Ask = Result<void> (*)(std::uint32_t uid);
  explicit Accounts(Ask ask);

  /// Notes that a start failed for want of the account. Returns whether it was open until now.
  bool failed(std::uint32_t uid, const std::string& user, const std::string& why, Time now);
  /// Notes that a job of the account has begun.
  void worked(std::uint32_t uid);
  bool is_closed(std::uint32_t uid) const;
  /// "the system knows no user 1002; the next look is at ..."; of a closed account.
  std::string why(std::uint32_t uid) const;
  /// One line for each closed account, at most three.
  std::vector<std::string> warnings() const;

  struct News {
    std::vector<std::uint32_t> open{};  ///< Accounts that may start jobs again.
    /// Accounts that did not come back, and why: jobs that wait for them have failed.
    std::map<std::uint32_t, std::string> given_up{};
  };
  /// Begins to ask for accounts that are due, and returns the answers to earlier questions. Does
  /// not wait.
  News look(Time now);
  /// When look() has something to do; kNever = no account is closed.
  Time due(Time now) const;

  /// Tries for an account that the system does not know, about four minutes ...
  static constexpr int kUnknownTries = 8;
  /// ... and for one whose directory does not answer, about an hour.
  static constexpr int kTries = 20;

 private:
  struct Account {
    std::string user{};
    std::string why{};
    int tries = 0;    // in a row
    int unknown = 0;  // of these, when the directory said so
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

/// Asks the system's directory of users.
Result<void> ask_for_user(std::uint32_t uid);

}  // namespace almanac::machine
