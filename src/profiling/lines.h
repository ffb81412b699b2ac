// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cuts a program's terminal output into lines: at newlines, and at the carriage returns and
/// backspaces with which progress bars overwrite themselves. Removes escape sequences for colors.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace almanac::profiling {

class LineCutter {
 public:
  /// The rest of a longer line is dropped: progress is at the beginning.
  static constexpr std::size_t kLongest = 8192;

  /// Calls `use` for each line that ends within `bytes`, except empty lines.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& use);
  /// Returns the line that has not ended yet. A bar that writes "\r" first leaves its last state
  /// here.
  std::string_view rest() const { return line_; }

 private:
  enum class Escape { none, begun, sequence };

  std::string line_;
  Escape escape_ = Escape::none;
};

/// The last `most` lines of a log, for the message about a failed run.
class LastLines {
 public:
  explicit LastLines(std::size_t most) : most_(most) {}
  void add(std::string_view line) {
    lines_.emplace_back(line);
    if (lines_.size() > most_) lines_.pop_front();
  }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  std::size_t most_;
  std::deque<std::string> lines_;
};

}  // namespace almanac::profiling
