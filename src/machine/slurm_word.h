// SPDX-License-Identifier: Apache-2.0

/// \file
/// Slurm's one-word reasons why a job waits.
#pragma once

#include <string>

#include "policy/contract/reason.h"

namespace almanac::machine {

/// Returns Slurm's word, such as "Resources" or "Priority", if it has one.
std::string slurm_word(policy::ReasonKind kind);

}  // namespace almanac::machine
