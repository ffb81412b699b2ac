// SPDX-License-Identifier: Apache-2.0

/// \file
/// The running and waiting jobs of a managed cluster and its quotas, for forecasts.
///
/// Leaves out running jobs that could never start here, for example because nodes are gone; their
/// GPUs count as free.
#pragma once

#include <span>

#include "manager/job.h"
#include "service/foresight.h"
#include "steer/mirror.h"
#include "steer/world.h"

namespace almanac::steer {

/// `queue` are the jobs that the policy sees wait, in order of submission; an array is there once
/// for each of its tasks. But for the first, these have numbers that no job of the manager has.
/// `composition`, `revision` and `ended` are left to the caller. Cost: O(jobs).
service::Outlook outlook_of(const Mirror& mirror, const World& world,
                            std::span<const manager::JobNumber> queue);

}  // namespace almanac::steer
