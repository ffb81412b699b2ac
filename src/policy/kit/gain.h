// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a running job has gained since it started or moved, compared with what a stop would cost.
///
/// A policy that stops jobs again and again must check one of these. Otherwise jobs whose
/// restarts cost more than they gain between two stops never end.
#pragma once

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Returns whether a running job has run for `least` longer than it needs, at its speed so far, to
/// redo what it would lose if stopped now: a restart and the work since its last checkpoint.
bool has_gained(JobId job, Duration least, const View& view);
/// Returns whether a running job has gained as much as a stop would cost it now, so that at least
/// half of each run counts.
bool has_repaid(JobId job, const View& view);

}  // namespace almanac::policy
