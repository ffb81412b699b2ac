// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times measured at some counts of tokens, and straight lines between them.
#pragma once

#include <utility>
#include <vector>

#include "inference/step_time.h"

namespace almanac::inference {

/// Knots, ascending by tokens; beyond the first and the last the line goes on.
///
/// Source   the performance model of splitwise-sim (Patel et al., ISCA'24): an iteration with
///          prompts and decodes takes 1.1 times what one with as many tokens of prompts does.
class TokenTable final : public StepTime {
 public:
  struct Knot {
    double tokens = 0;
    Micros prompt = 0;
    Micros decode = 0;
  };
  /// At least two knots.
  explicit TokenTable(std::vector<Knot> knots) : knots_(std::move(knots)) {}

  Micros prompt(double tokens) const { return at(tokens, &Knot::prompt); }
  Micros decode(double tokens) const { return at(tokens, &Knot::decode); }
  Micros operator()(const Batch& batch) const override;

 private:
  double at(double tokens, Micros Knot::*value) const;
  std::vector<Knot> knots_;
};

}  // namespace almanac::inference
