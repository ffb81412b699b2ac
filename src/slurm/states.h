// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the words of Slurm for the state of a job mean together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slurm/job.h"

namespace almanac::slurm {

struct Stands {
  State state = State::pending;
  trace::JobState outcome = trace::JobState::unknown;
};

/// `words` are a state and flags, in upper case and any order: {"RUNNING", "COMPLETING"}. Flags
/// that a later Slurm may have are passed over; nothing where no word is known.
std::optional<Stands> read_state(const std::vector<std::string>& words);

}  // namespace almanac::slurm
