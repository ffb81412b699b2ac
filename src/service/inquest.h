// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says of jobs that failed why, from what they have written: by the built-in rules of failures, as
/// study failures does.
///
/// From a thread of its own, of low priority. A log is opened with the rights of the job's user,
/// and only where it is a plain file of theirs.
///
/// Cost     2 to 3.5 ns a byte of log; the rules are made ready with the first that fails.
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
  /// The job, and what its log says: "GPU out of memory, line 17: RuntimeError: ... -> ...". What
  /// stands before the line is the kind of failure, which everybody may hear (detail_for()).
  using Tell = std::function<void(store::JobNumber, const std::string&)>;

  explicit Inquest(Tell tell);
  /// Leaves what it has not come to.
  ~Inquest();
  Inquest(const Inquest&) = delete;
  Inquest& operator=(const Inquest&) = delete;

  /// Does not wait. Of a job whose log tells nothing, nothing is told.
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

/// The note on a job that failed: what its log says of why.
inline constexpr const char* kJudged = "its log says";
/// The detail of a note as others may see it: of what a log says, the kind of failure alone.
std::string detail_for(const store::Note& note, Eyes eyes);

}  // namespace almanac::service
