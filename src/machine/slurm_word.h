// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a job waits, in the one word that Slurm's users know.
#pragma once

#include <string>

#include "policy/contract/reason.h"

namespace almanac::machine {

/// Slurm's word where it has one: "Resources", "Priority".
std::string slurm_word(policy::ReasonKind kind);

}  // namespace almanac::machine
