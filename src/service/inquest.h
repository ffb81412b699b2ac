// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds out why jobs failed from their logs, by the built-in rules that `study failures` uses.
///
/// Works in its own thread with low priority. It opens a log with the rights of the job's user, and
/// only if the log is a regular file of that user.
///
/// Cost: 2 to 3.5 ns a byte of log; the rules are compiled when the first job fails.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "service/service.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::service {

class Inquest {
 public:
  /// Gets a job and the finding: "GPU out of memory, line 17: RuntimeError: ... -> ...". The part
  /// before the line number is the kind of failure, which everybody may read (detail_for()).
  using Tell = std::function<void(store::JobNumber, const std::string&)>;

  explicit Inquest(Tell tell);
  /// Drops the jobs that it has not looked at.
  ~Inquest();
  Inquest(const Inquest&) = delete;
  Inquest& operator=(const Inquest&) = delete;

  /// Queues a job and returns at once. Reports nothing if its log has no known cause.
  void hold(const store::Job& failed);

 private:
  void work();

  Tell tell_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<store::Job> waiting_;
  bool stop_ = false;
  std::thread thread_;  // the last: all else is there when it begins
};

/// The note with the cause that was found in the log of a failed job.
inline constexpr const char* kJudged = "its log says";
/// The detail of a note for a reader: others get only the kind of failure, no text from the log.
std::string detail_for(const store::Note& note, Eyes eyes);

}  // namespace almanac::service
