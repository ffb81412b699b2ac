// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many nodes a change of a Slurm site's settings is worth: those that the site would need for
/// waits as short with today's settings.
#pragma once

#include <span>

#include "advice/change.h"
#include "advice/play.h"
#include "base/result.h"

namespace almanac::advice {

/// Sets Change::worth of each change that shortens the mean wait. Added nodes are like today's, in
/// the same proportions (capacity/resize.h). If a node has GPUs of several types, sets nothing. Of
/// more than 100 nodes, the number is found to 1 %. Fails with `unavailable` when stopped. Does not
/// depend on the number of threads. Cost: at most nine simulations for each change, shared between
/// changes of similar gains.
///
/// An estimate without an interval, on the log that the change was chosen on. The search by halves
/// assumes that jobs wait no longer on more nodes.
Result<void> add_worth(const Play& play, std::span<Change* const> changes);

}  // namespace almanac::advice
