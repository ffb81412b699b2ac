// SPDX-License-Identifier: Apache-2.0

/// \file
/// Looks for many regular expressions at once. Keeps the library that does it, Hyperscan, to
/// itself.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::failure {

/// A set of compiled patterns, which threads may share. "." and "^" and "$" know lines; classes
/// such as [^x] must name \n themselves.
class Patterns {
 public:
  /// Fails with invalid; the error's line is the position of the pattern in the list.
  static Result<Patterns> compile(std::span<const std::string> patterns);
  Patterns(Patterns&&) noexcept;
  Patterns& operator=(Patterns&&) noexcept;
  ~Patterns();

  struct State;
  const State& state() const { return *state_; }

 private:
  explicit Patterns(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// One thread's room to search in. The patterns must outlive it.
class Search {
 public:
  explicit Search(const Patterns& patterns);
  Search(Search&&) noexcept;
  Search& operator=(Search&&) noexcept;
  ~Search();

  /// Told which pattern matches, and where the match ends. Gives whether to go on.
  using Found = bool (*)(void* context, std::size_t pattern, std::size_t end);
  /// Tells of every end of every match in `text`, each pattern's in order.
  void each(std::string_view text, Found found, void* context);
  /// Whether any pattern matches.
  bool any(std::string_view text);
  /// Whether that pattern matches.
  bool matches(std::string_view text, std::size_t pattern);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace almanac::failure
