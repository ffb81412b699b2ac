// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays a recorded scenario again from its submissions: which jobs start in which order, where and
/// when.
///
/// The moments of passes, backfill cycles, decay passes and submissions are those of the log, as
/// they depend on when the daemon was started. Everything between them is decided here. A job runs
/// as long as it ran.
#pragma once

#include <string>

#include "reproduce/slurm_log.h"

namespace almanac::reproduce {

struct ScenarioAgreement {
  Agreement order{};     ///< Starts, in order: the same job next.
  Agreement nodes{};     ///< Of jobs that start in both.
  Agreement times{};     ///< Within one backfill interval.
  Agreement starters{};  ///< Main scheduler or backfill.
};

/// Plays the scenario in `folder`. Fails as reading a file does.
Result<ScenarioAgreement> play_slurm_scenario(const std::string& folder, site::Site site);

}  // namespace almanac::reproduce
