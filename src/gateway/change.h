// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Changes what the service requests: waiting jobs, running jobs, and the power of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/link.h"

namespace almanac::gateway {

/// Makes the changes, as manager::Link::change() documents. Several run at once, because the
/// controller spends most of the time of one change waiting for its own locks. If the controller
/// does not answer, the remaining changes are not sent.
std::vector<Result<void>> change(std::span<const manager::JobChange> changes);
Result<void> end(manager::JobNumber job, manager::Fate fate);
Result<void> power(std::span<const std::string> nodes, bool on);
Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight);

}  // namespace almanac::gateway
