// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shows progress and remaining time of long work on stderr.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace almanac::cli {

/// Shows progress during its lifetime: on a terminal a bar as soon as the work takes a while,
/// elsewhere a line after five seconds and each time the elapsed time has doubled.
class ProgressBar {
 public:
  /// `done` returns the finished fraction of the work, 0 to 1, or NaN if unknown: then only the
  /// elapsed time is shown. It is called from another thread.
  ProgressBar(std::string what, std::function<double()> done);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Prints an intermediate result if the work has taken two seconds.
  /// Thread-safe.
  void say(const std::string& text);

 private:
  void watch(const std::stop_token& stop);
  void draw();

  std::string what_;
  std::function<double()> done_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double told_ = 0;                                         // what was done when that last changed
  std::chrono::steady_clock::time_point told_at_ = start_;  // and when
  bool drawn_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

/// How long work still takes, in words, of which the part `done` was done when that was last told,
/// `told_after_s` after the beginning; `passed_s` have passed by now. Between two reports it counts
/// down. "..." if too little is done to say.
std::string time_left(double done, double told_after_s, double passed_s);

/// The bar of one who reads the files `paths` from now on; of what is no regular file it cannot say
/// how far it is.
ProgressBar reading_bar(const std::vector<std::string>& paths);

/// Whether a stream is a terminal that takes colors (NO_COLOR unset).
bool colour_on_stdout();

}  // namespace almanac::cli
