// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Converts errors of Slurm (errno) to errors of Almanac.
#pragma once

#include <string>

#include "base/result.h"

namespace almanac::gateway {

/// Returns conflict if the job's state does not allow the operation, not_found if there is no such
/// job or node, unsupported if the user or the site may not do it, unavailable if the controller
/// cannot do it now, otherwise invalid.
///
/// Source   slurm/slurm_errno.h of Slurm 22.05.
Code code_of(int slurm_errno);

/// Returns the error of the last call of libslurm in this thread: "cannot release job 7: Invalid
/// job id specified".
tl::unexpected<Error> refusal(const std::string& what);

}  // namespace almanac::gateway
