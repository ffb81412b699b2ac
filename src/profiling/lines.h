// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cuts what a program writes to a terminal into lines: at newlines, at carriage returns and at
/// runs of backspaces, as progress bars use them; colours are taken out.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace almanac::profiling {

class LineCutter {
 public:
  /// A longer line is cut: what a bar or a log says stands at its begin.
  static constexpr std::size_t kLongest = 8192;

  /// Calls `use` with each line that ends in `bytes`. Empty ones are left out.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& use);
  /// The line that has not ended yet; bars that write "\r" first leave their last state here.
  std::string_view rest() const { return line_; }

 private:
  enum class Escape { none, begun, sequence };

  std::string line_;
  Escape escape_ = Escape::none;
};

/// The last lines of a log, to tell why a run failed.
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
