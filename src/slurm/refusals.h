// SPDX-License-Identifier: Apache-2.0

/// \file
/// What Slurm means by its words for why something was refused.
#pragma once

#include <string_view>

#include "base/result.h"

namespace almanac::slurm {

/// Whether a program of Slurm says that it knows of no Slurm at all.
bool is_without_slurm(std::string_view message);
/// What to tell a user then.
tl::unexpected<Error> without_slurm();

/// Whether it says that no controller answered.
bool is_silence(std::string_view message);

/// conflict = a job does not wait any more, or is held; not_found = no such job or node;
/// unsupported = we may not, or the site does not; unavailable = there was no answer, or the
/// controller cannot now, and nothing is known of what was done; else invalid: a Slurm that says
/// words that are not known here has answered, and will say them again.
///
/// Source   slurm_errno.c of Slurm 22.05 and 23.11.
Code code_of_refusal(std::string_view message);

}  // namespace almanac::slurm
