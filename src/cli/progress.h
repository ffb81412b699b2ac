// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shows on a terminal how far long work has come and when it will be done.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace almanac::cli {

/// Draws a bar on stderr while it lives, if stderr is a terminal and the work takes a while.
class ProgressBar {
 public:
  /// `done` gives the part of the work that is done, 0 .. 1; it is called from another thread.
  ProgressBar(std::string what, std::function<double()> done);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

/// Whether a stream is a terminal that takes colours (NO_COLOR unset).
bool colour_on_stdout();

}  // namespace almanac::cli
