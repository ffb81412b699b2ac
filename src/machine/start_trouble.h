// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whose trouble it is that a job could not be started: the job's own, its user's account's, or the
/// machine's; and when the next try is due. Each backs off alone, so that one job or one account
/// keeps nobody else from starting.
///
/// The cause is often known (the account is not there, a folder is in the way). A shepherd that
/// went without a word is first its job's trouble, and the machine's as soon as another job fails
/// the same way with no start that worked in between.
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

/// Before the try after so many failures in a row: 1 s, 2 s, 4 s, ... up to 5 minutes.
Duration pause_before_start(int failures);

/// Of jobs that failed to start for no reason that concerns others. Not thread-safe.
class JobStarts {
 public:
  struct Next {
    Time again{};
    bool gives_up = false;
  };
  /// A start failed. Gives up after kTries; a try counts only if some start worked since the one
  /// before, or `is_certain`: where none works, the job is not to blame.
  Next failed(store::JobNumber job, const std::string& why, bool is_certain, Time now);
  /// Whether others failed too since a start worked last.
  bool are_several() const { return since_worked_ > 1; }
  /// A start worked: of this job, which is forgotten here.
  void worked(store::JobNumber job);
  void forget(store::JobNumber job) { jobs_.erase(job); }
  /// Why the last start failed; null = none has.
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

/// Of accounts that the system does not know. While one is closed none of its jobs starts; whether
/// it is back is asked aside, without a job. Not thread-safe.
class Accounts {
 public:
  /// Answers whether the system knows a user, as process::groups_of() does; may take long.
  using Ask = Result<void> (*)(std::uint32_t uid);
  explicit Accounts(Ask ask);

  /// A start failed for the account. Whether it was open until now.
  bool failed(std::uint32_t uid, const std::string& user, const std::string& why, Time now);
  /// A job of it began.
  void worked(std::uint32_t uid);
  bool is_closed(std::uint32_t uid) const;
  /// "the system knows no user 1002; the next look is at ..."; of one that is closed.
  std::string why(std::uint32_t uid) const;
  /// One line for each account that is closed, of three at most.
  std::vector<std::string> warnings() const;

  struct News {
    std::vector<std::uint32_t> open{};  ///< These may start jobs again.
    /// Nobody came back: jobs that wait for them alone have failed, and why.
    std::map<std::uint32_t, std::string> given_up{};
  };
  /// Begins to ask for those that are due, and says what came of earlier questions. Does not wait.
  News look(Time now);
  /// When look() has something to do; kNever = no account is closed.
  Time due(Time now) const;

  /// So often an account is looked for that the system does not know, about four minutes ...
  static constexpr int kUnknownTries = 8;
  /// ... and one whose directory does not answer, about an hour.
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
