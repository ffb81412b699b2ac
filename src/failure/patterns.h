// SPDX-License-Identifier: Apache-2.0

/// \file
/// Searches for many regular expressions at once. Hides the library that does it, RE2.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::failure {

/// A set of compiled patterns. "." and "^" and "$" know lines; classes such as [^x] must name \n
/// themselves. Threads may share it.
class Patterns {
 public:
  /// Fails with invalid; the error's line is the position of the pattern in the list.
  static Result<Patterns> compile(std::span<const std::string> patterns);
  Patterns(Patterns&&) noexcept;
  Patterns& operator=(Patterns&&) noexcept;
  ~Patterns();

  /// Called with a matching pattern and the end of the match; returns whether to continue.
  using Found = std::function<bool(std::size_t pattern, std::size_t end)>;
  /// Reports the non-overlapping matches of each pattern in `text`, in order of their ends, pattern
  /// by pattern.
  ///
  /// Cost: one pass over `text`, plus one for each pattern that matches.
  void each(std::string_view text, const Found& found) const;
  /// Whether any pattern matches.
  bool any(std::string_view text) const;
  /// Whether that pattern matches.
  bool matches(std::string_view text, std::size_t pattern) const;

 private:
  struct State;
  explicit Patterns(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace almanac::failure
