// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lines to and from the program that decides.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace almanac::script {

/// The other end is gone, or has said what it must not. Thrown through the simulation, since a
/// policy has no other way to give up; experiment::simulate_run() makes a Result of it.
struct Broken final : std::exception {
  explicit Broken(std::string message, Code code = Code::invalid);
  const char* what() const noexcept override { return error.message.c_str(); }
  Error error;
};

/// A pair of descriptors, which it does not own. Not thread-safe.
class Talk {
 public:
  Talk(int from, int to, Duration patience = kPatience)
      : from_(from), to_(to), patience_(patience) {}

  /// Writes `line`, which holds no newline, at once.
  void say(std::string_view line);
  /// The next line; waits for it, but not for ever. Throws Broken where the other end has gone,
  /// says nothing for its patience, or does not end its line within kLongestLine.
  std::string hear();

  static constexpr Duration kPatience = 10min;
  static constexpr std::size_t kLongestLine = 1 << 20;

 private:
  int from_;
  int to_;
  Duration patience_;
  std::string read_;       // not yet given
  std::size_t given_ = 0;  // of read_
};

}  // namespace almanac::script
