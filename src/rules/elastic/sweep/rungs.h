// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of all methods that stop trials of a sweep early: what happens to a trial that reports, and
/// which paused trial continues.
#pragma once

#include <cstdint>
#include <optional>

namespace almanac::elastic {

using TrialId = std::int64_t;

struct RungOptions {
  double reduction = 4;  ///< One in this many trials continues from a rung; above 1.
  double grace = 1;      ///< Iterations of the first rung; above 0.
  double most = 100;     ///< Iterations after which a trial is done; at least `grace`.
  bool pauses = true;    ///< Trials below the cut pause and may continue; otherwise they stop.
};

enum class Verdict { go_on, pause, stop };

class Rungs {
 public:
  virtual ~Rungs() = default;
  /// Records a report; a larger score is better.
  virtual Verdict report(TrialId trial, double iteration, double score) = 0;
  /// Returns a paused trial that may continue now, the most promising first, and continues it.
  virtual std::optional<TrialId> promote() { return std::nullopt; }
  /// Records that a trial will not report any more.
  virtual void gone(TrialId) {}
  /// Called when no trial runs or may begin: trials that waited for others may continue.
  virtual void settle() {}
};

}  // namespace almanac::elastic
