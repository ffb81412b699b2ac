// SPDX-License-Identifier: Apache-2.0

/// \file
/// Commands of the site that are run when something has happened to a job: a mail, a message, a
/// webhook (curl).
///
/// From a thread of its own, one after the other; what happened is on the disk before. A command
/// that a service does not come to, since it is killed, is not run by the next one.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "process/bell.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::machine {

struct Hook {
  std::set<std::string> on{};     ///< "started", "ended", "requeued", "preempted", or a state in
                                  ///< which jobs end: "FAILED"; none = all of these.
  std::set<std::string> users{};  ///< Of these only; none = everybody's.
  std::string command{};          ///< Run by /bin/sh, as the service's user.

  bool is_for(const store::Job& job, const store::Note& note) const;
};

/// `[[hook]]` with on, users, command. Fails with not_found or invalid, naming the line.
Result<std::vector<Hook>> read_hooks(const std::string& path);

class Hooks {
 public:
  explicit Hooks(std::vector<Hook> hooks);
  /// Leaves what it has not come to.
  ~Hooks();
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  /// Does not wait. Of more than 1,000 that wait to be run no more are taken, which is logged.
  void hear(const store::Job& job, const store::Note& note);

 private:
  struct Call {
    const Hook* hook;
    store::Job job;
    store::Note note;
  };
  void work();

  std::vector<Hook> hooks_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Call> waiting_;
  bool is_full_ = false;
  bool stop_ = false;
  process::Bell ends_;  // whatever command runs then
  std::thread thread_;  // the last: all else is there when it begins
};

}  // namespace almanac::machine
