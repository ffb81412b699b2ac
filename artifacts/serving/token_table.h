// SPDX-License-Identifier: Apache-2.0

/// \file
/// Iteration times measured at some counts of tokens, and straight lines between them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace almanac::serving {

/// Knots, ascending by tokens; the first and the last line continue beyond them.
///
/// Source   the performance model of splitwise-sim (Patel et al., ISCA'24): an iteration with
///          prompts and decodes takes 1.1 times as long as one with as many tokens of prompts.
class TokenTable {
 public:
  /// Times are in seconds.
  struct Knot {
    double tokens = 0;
    double prompt = 0;
    double decode = 0;
  };
  /// Requires at least two knots.
  explicit TokenTable(std::vector<Knot> knots) : knots_(std::move(knots)) {}

  /// Seconds of an iteration of `tokens` in all, of so many prompts and decodes.
  double iteration_s(std::int32_t tokens, std::int32_t prompts, std::int32_t decodes) const;

 private:
  double at(double tokens, double Knot::*value) const;
  std::vector<Knot> knots_;
};

}  // namespace almanac::serving
