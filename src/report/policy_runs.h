// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates the policies of an experiment in parallel and writes the run directory with its
/// report.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "experiment/summary.h"
#include "process/descriptor.h"

namespace almanac::report {

struct RunReport {
  /// Summaries of the simulated policies in order, then the recorded one if there is one.
  std::vector<experiment::Summary> summaries;
  bool interrupted = false;
};

/// Receives messages while policies run; called by one thread at a time.
struct RunHooks {
  std::function<void(const std::string& line)> ready;  ///< One of several policies has finished.
  std::function<void(const std::string& line)> note;   ///< Some jobs can never start.
};

/// Call begin(), `play()` and finish() in this order. The output does not depend on the number of
/// threads.
class PolicyRuns {
 public:
  /// `out` is the run directory, which gets a report.html if this build has a page; "" for none.
  /// `command` is the command line. `prepared` must outlive this object.
  PolicyRuns(const experiment::Prepared& prepared, std::string out,
             std::vector<std::string> command);
  ~PolicyRuns();

  /// Opens the run directory. Fails as experiment::open_run_directory() does.
  Result<void> begin();
  /// Runs every policy on `threads` threads (0 = all cores) until `stop` becomes true.
  Result<void> play(int threads, const std::atomic<bool>& stop, const RunHooks& hooks);
  /// Returns the completed fraction of `play()`, 0 to 1. Thread-safe.
  double progress() const;
  /// Writes the report and completes the run directory.
  Result<RunReport> finish();

 private:
  class Page;
  Result<void> play_one(std::size_t run, const std::atomic<bool>& stop, const RunHooks& hooks);

  const experiment::Prepared& prepared_;
  std::string out_;
  std::vector<std::string> command_;
  process::Descriptor folder_;
  std::unique_ptr<Page> page_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> arrived_;  // by run
  std::vector<std::optional<experiment::Summary>> summaries_;
  std::vector<JobId> never_;
  bool never_noted_ = false;
  bool interrupted_ = false;
  std::mutex mutex_;  // of summaries_, never_, never_noted_ and the hooks
};

}  // namespace almanac::report
