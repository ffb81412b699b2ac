// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which variants of a network answer a request, and what their answers say together: the slot
/// `chooser`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "deployment/bandit.h"
#include "deployment/cascade.h"
#include "deployment/deployment.h"

namespace almanac::deployment {

/// What a variant said.
struct Label {
  int label = Exp4::kLate;  ///< kLate = it did not answer in time.
  double confidence = 0;
};

/// What a chooser is told of its task before it begins. Variants count within the task.
struct ChooserCase {
  std::vector<Variant> variants{};  ///< Those that are in time alone; one at least.
  /// By variant, then item; empty = not known.
  std::vector<std::vector<TriedAnswer>> answers{};
  double tolerance = 0.01;  ///< Part of the right answers that may be lost for speed.
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Those that answer a request as it comes, one at least.
  virtual std::vector<std::size_t> ask(Rng& rng) = 0;
  /// Another that is to answer once these have, `said` by variant; nothing = none.
  virtual std::optional<std::size_t> ask_more(std::span<const Label>) { return std::nullopt; }
  /// The answer; kLate = none.
  virtual int answer(std::span<const Label> said) = 0;
  /// That would have been right. `asked` are those that ask() gave.
  virtual void learn(std::span<const std::size_t> /*asked*/, std::span<const Label> /*said*/,
                     int /*right*/) {}
};

}  // namespace almanac::deployment
