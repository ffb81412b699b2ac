// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cluster Energy Saving as its authors run it: nodes that are not needed go to sleep, and are
/// woken when more are needed than are on.
///
/// Source   Hu et al., SC'21, section 4.3, Algorithm 2, and the artifact's CES_Helios.py and
///          CES_Philly.py, whose order of steps this keeps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::energy {

/// The constants of the loop; steps are of 10 minutes.
struct CesSettings {
  int history_steps = 6;         ///< Window of the recent trend.
  int future_steps = 18;         ///< Window of the expected trend.
  double history_threshold = 1;  ///< xi_H, nodes: least reduction in the recent trend.
  double future_threshold = 1;   ///< xi_P, nodes: least reduction expected.
  int least_change = 1;          ///< Fewer nodes than these are not sent to sleep.
  int buffer = 5;                ///< sigma: nodes kept on beyond the demand.
  int keep_steps = 12;           ///< Steps without sleep after a wake-up.
  int stable_until = 0;          ///< No sleep before this step.
};

/// The authors' constants for "venus", "earth", "saturn", "uranus" or "philly"; not_found else.
Result<CesSettings> ces_profile(std::string_view cluster);
/// The names that ces_profile() knows.
std::vector<std::string> ces_profiles();

/// Decisions of the loop at each step.
struct CesTrack {
  std::vector<int> active;  ///< Nodes that are on.
  std::vector<int> change;  ///< Nodes woken (> 0) or sent to sleep (< 0).
  std::vector<int> lack;    ///< Nodes requested beyond those on.
};

/// One step of a cluster as the loop sees it, in nodes.
struct CesStep {
  int used = 0;
  int total = 0;
  double soon = 0;   ///< Mean expected of the next `future_steps`.
  double later = 0;  ///< Mean expected of twice as many.
};

/// The loop, step by step.
class CesLoop {
 public:
  explicit CesLoop(const CesSettings& settings);

  struct Decision {
    int active = 0;  ///< Nodes that shall be on.
    int change = 0;  ///< Nodes woken (> 0) or sent to sleep (< 0).
    int lack = 0;    ///< Nodes requested beyond those on.
  };
  /// Decides the next step of a cluster with `before` nodes on.
  Decision step(const CesStep& now, int before);
  /// No node is put to sleep for `keep_steps`: nodes were woken since the last step.
  void hold() { stable_ = static_cast<std::int64_t>(used_.size()) + settings_.keep_steps; }

 private:
  CesSettings settings_;
  std::vector<int> used_;  // so far
  std::int64_t stable_;    // no sleep before this step
};

/// Runs the loop over `used` nodes with a forecast `predicted` and `total` nodes, all of one
/// length. Differs from Algorithm 2 where the artifact does: the first six steps are not capped by
/// `total`, a change is recorded before the cap, and no node sleeps when demand is expected to rise
/// again.
CesTrack run_ces(std::span<const int> used, std::span<const int> predicted,
                 std::span<const int> total, const CesSettings& settings);

/// Same with the expected means, at each step, of the next `future_steps` (`soon`) and of twice as
/// many (`later`): for forecasts that are updated at each step.
CesTrack run_ces(std::span<const int> used, std::span<const double> soon,
                 std::span<const double> later, std::span<const int> total,
                 const CesSettings& settings);

}  // namespace almanac::energy
