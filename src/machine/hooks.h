// SPDX-License-Identifier: Apache-2.0

/// \file
/// Site commands that run when something happens to a job: a mail, a message, a webhook (curl).
///
/// They run in a thread of their own, one after the other, after the event is on disk. If the
/// service is killed before a command has run, the next service does not run it.
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
  /// "started", "ended", "requeued", "preempted", or a final job state such as "FAILED"; empty for
  /// all.
  std::set<std::string> on{};
  std::set<std::string> users{};  ///< Only for jobs of these users; empty for all.
  std::string command{};          ///< Run by /bin/sh as the service's user.

  bool is_for(const store::Job& job, const store::Note& note) const;
};

/// Reads `[[hook]]` tables with on, users and command. Fails with `not_found`, or `invalid` naming
/// the line.
Result<std::vector<Hook>> read_hooks(const std::string& path);

class Hooks {
 public:
  explicit Hooks(std::vector<Hook> hooks);
  /// Drops commands that have not started.
  ~Hooks();
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  /// Queues the hooks for an event and returns at once. Drops the event, with a log message, if
  /// 1,000 are queued.
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
  process::Bell ends_;  // ends a running command
  std::thread thread_;  // last member: all others exist when it starts
};

}  // namespace almanac::machine
