// SPDX-License-Identifier: Apache-2.0

/// \file
/// Exchanges lines with the program that decides.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace almanac::script {

/// The program has ended, or sent an invalid line. Thrown through the simulation, because a policy
/// has no other way to give up; experiment::simulate_run() converts it to a Result.
struct Broken final : std::exception {
  explicit Broken(std::string message, Code code = Code::invalid);
  const char* what() const noexcept override { return error.message.c_str(); }
  Error error;
};

/// A pair of file descriptors, which it does not own. Not thread-safe.
class Talk {
 public:
  Talk(int from, int to, Duration patience = kPatience)
      : from_(from), to_(to), patience_(patience) {}

  /// Writes `line`, which has no newline, at once. Throws Broken if the program has closed the
  /// pipe, or reads nothing for `patience` while it is full.
  void say(std::string_view line);
  /// Returns the next line. Throws Broken if the program has ended, sends nothing for `patience`,
  /// or sends a line longer than kLongestLine.
  std::string hear();

  static constexpr Duration kPatience = 10min;
  static constexpr std::size_t kLongestLine = 1 << 20;

 private:
  /// Waits until `end` is ready for `event`; throws Broken after `patience`.
  void wait_for(int end, short event, std::string_view otherwise) const;

  int from_;
  int to_;
  Duration patience_;
  std::string read_;       // bytes received
  std::size_t given_ = 0;  // bytes of read_ that hear() has returned
};

}  // namespace almanac::script
