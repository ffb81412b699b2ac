// SPDX-License-Identifier: Apache-2.0

/// \file
/// The combined meaning of Slurm's words for the state of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slurm/types.h"

namespace almanac::slurm {

struct Stands {
  State state = State::pending;
  trace::JobState outcome = trace::JobState::unknown;
};

/// `words` are a state and flags, in upper case and any order: {"RUNNING", "COMPLETING"}. Ignores
/// unknown flags of later releases; returns nothing if no word is known.
std::optional<Stands> read_state(const std::vector<std::string>& words);

}  // namespace almanac::slurm
