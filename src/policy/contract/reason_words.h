// SPDX-License-Identifier: Apache-2.0

/// \file
/// What squeue and reports call the reasons for waiting. reason.cpp has all words of a reason.
#pragma once

#include <string_view>

#include "policy/contract/reason.h"

namespace almanac::policy {

/// Returns Slurm's word, such as "Resources" or "Priority"; "NextLease" and "Never", which Slurm
/// does not have, are Almanac's.
std::string_view slurm_word(ReasonKind kind);

/// Returns what a job waited for, to follow how long: "for GPUs that others held". Empty for
/// reasons that no change of load can end.
std::string_view waited_for(ReasonKind kind);

}  // namespace almanac::policy
