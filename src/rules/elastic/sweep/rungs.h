// SPDX-License-Identifier: Apache-2.0

/// \file
/// What every way to stop trials of a sweep early answers: what becomes of a trial that reports,
/// and which of those that rest goes on.
#pragma once

#include <cstdint>
#include <optional>

namespace almanac::elastic {

using TrialId = std::int64_t;

struct RungOptions {
  double reduction = 4;  ///< Of the trials of a rung one in so many goes on; above 1.
  double grace = 1;      ///< Iterations of the first rung; above 0.
  double most = 100;     ///< Iterations after which a trial is done; at least `grace`.
  bool pauses = true;    ///< A trial that is cut waits, and may go on; else it is stopped.
};

enum class Verdict { go_on, pause, stop };

class Rungs {
 public:
  virtual ~Rungs() = default;
  /// The larger the score, the better.
  virtual Verdict report(TrialId trial, double iteration, double score) = 0;
  /// A paused trial that goes on by now, the most promising first.
  virtual std::optional<TrialId> promote() { return std::nullopt; }
  /// It will report no more.
  virtual void gone(TrialId) {}
  /// No trial runs or may begin: whoever others were waited for may go on.
  virtual void settle() {}
};

}  // namespace almanac::elastic
