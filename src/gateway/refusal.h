// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// What an errno of Slurm means to the daemon that asked.
#pragma once

#include <string>

#include "base/result.h"

namespace almanac::gateway {

/// conflict = the job does not stand so that this can be done; not_found = no such job or node;
/// unsupported = we may not, or the site does not; unavailable = the controller cannot now; else
/// invalid.
///
/// Source   slurm/slurm_errno.h of Slurm 22.05.
Code code_of(int slurm_errno);

/// The error of what has just failed in this thread: "cannot release job 7: Invalid job id
/// specified".
tl::unexpected<Error> refusal(const std::string& what);

}  // namespace almanac::gateway
