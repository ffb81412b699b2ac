// SPDX-License-Identifier: Apache-2.0

/// \file
/// Interprets Slurm's error messages.
#pragma once

#include <string_view>

#include "base/result.h"

namespace almanac::slurm {

/// Whether a program of Slurm says that it knows of no Slurm at all.
bool is_without_slurm(std::string_view message);
/// Returns the error for users of a machine without Slurm.
tl::unexpected<Error> without_slurm();

/// Whether it says that no controller answered.
bool is_silence(std::string_view message);

/// Returns conflict if the job is no longer pending, or is held; not_found for an unknown job or
/// node; unsupported if it is not permitted, or not possible at the site; unavailable if there was
/// no answer or the controller cannot do it now, so that it is unknown what was done; otherwise
/// invalid, because an unknown message is still an answer, and would come again.
///
/// Source   slurm_errno.c of Slurm 22.05 and 23.11.
Code code_of_refusal(std::string_view message);

}  // namespace almanac::slurm
