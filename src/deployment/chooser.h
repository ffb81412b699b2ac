// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses which variants of a network answer a request, and combines their answers: the slot
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

/// The answer of a variant.
struct Label {
  int label = Exp4::kLate;  ///< kLate if it did not answer in time.
  double confidence = 0;
};

/// What a chooser knows about its task at the start. Variants are numbered within the task.
struct ChooserCase {
  std::vector<Variant> variants{};  ///< Those that are in time alone; at least one.
  /// By variant, then item; empty if unknown.
  std::vector<std::vector<TriedAnswer>> answers{};
  double tolerance = 0.01;  ///< Part of the right answers that may be lost for speed.
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Returns the variants that it may ask; empty for all.
  virtual std::vector<std::size_t> may_ask() const { return {}; }
  /// Returns the variants to ask when a request arrives, at least one.
  virtual std::vector<std::size_t> ask(Rng& rng) = 0;
  /// Returns another variant to ask after these answers, `said` by variant; nothing for none.
  virtual std::optional<std::size_t> ask_more(std::span<const Label>) { return std::nullopt; }
  /// Returns the combined answer; kLate for none.
  virtual int answer(std::span<const Label> said) = 0;
  /// Informs the chooser of the right answer. `asked` are those that ask() returned.
  virtual void learn(std::span<const std::size_t> /*asked*/, std::span<const Label> /*said*/,
                     int /*right*/) {}
};

}  // namespace almanac::deployment
