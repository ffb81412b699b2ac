// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a log once and says why its job failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "failure/patterns.h"
#include "failure/rules.h"
#include "failure/verdict.h"

namespace almanac::failure {

/// Rules ready to be used; threads may share them.
struct RuleSet {
  Rules rules;
  Patterns patterns;  ///< One per rule, in order; matches anywhere on a line.
  /// One per rule with `start`: matches at the start of a line, after labels.
  Patterns starts;
  std::vector<std::size_t> start_of;  ///< Its position there, for each rule.
  Patterns ignore;

  /// Fails with `invalid`, naming the rule with an invalid pattern.
  static Result<RuleSet> compile(Rules rules);

  /// Whether a verdict of rule `a` goes before one of rule `b` wherever they stand: root before
  /// implicit, then the higher rank.
  bool precedes(std::size_t a, std::size_t b) const;
};

/// Judges one log after another; for one thread. The rules must outlive it.
///
/// The verdict does not depend on how the log is split into blocks. Colors (ANSI escapes) and NULs
/// get no special treatment; a carriage return restarts a line, as on a terminal, without counting
/// a new one. A line of more than 256 KB is examined in pieces that overlap by 4 KB.
///
/// Cost: 2 to 8 ns per byte; memory does not grow with the log or its lines.
class Classifier {
 public:
  explicit Classifier(const RuleSet& set);

  void feed(std::string_view bytes);
  /// Ends the log and makes ready for the next one.
  Verdict finish();

 private:
  void scan(std::size_t size);
  void judge(std::size_t rule, std::size_t end);
  bool beats_best(std::size_t rule, std::uint64_t line_begin) const;
  bool begins_line(std::size_t rule);
  void look_at_line(std::size_t end);

  const RuleSet* set_;

  std::string buffer_;  // the raw log, from the start of a line
  std::size_t filled_ = 0;
  bool continued_ = false;    // whether the buffer starts within a line
  std::int64_t lines_ = 0;    // newlines before the buffer
  std::uint64_t before_ = 0;  // bytes before the buffer
  std::string plain_;         // of a buffer with colors or carriage returns: without them, as long

  std::string_view text_;       // what is being searched
  std::size_t line_begin_ = 0;  // the line of text_ looked at last
  std::size_t line_end_ = 0;
  bool line_ignored_ = false;

  Verdict best_;
  std::uint64_t best_begin_ = 0;  // where its line starts in the log
  std::uint64_t best_end_ = 0;    // and ends
};

}  // namespace almanac::failure
