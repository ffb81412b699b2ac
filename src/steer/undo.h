// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes back what was done to a Slurm, with or without a service.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/result.h"
#include "slurm/link.h"
#include "steer/driver.h"

namespace almanac::steer {

/// The journal of a state folder, and what stands of it.
Result<std::pair<Journal, Ours>> open_journal(const std::string& state);

/// Takes back all that still can be, in as many slices as it takes; gives how many changes that
/// were. `mutex` is of `driver` and `mirror`, and is not held while Slurm works. The journal says
/// `why`.
Result<std::int64_t> take_back(Driver& driver, Mirror& mirror, slurm::Link& link, std::mutex& mutex,
                               const std::string& why = "as it was before Almanac");

/// The same on the folder of a service that does not run. Fails with conflict where one does.
Result<std::int64_t> undo_without_service(
    const std::string& state, const std::function<Result<std::unique_ptr<slurm::Link>>()>& connect);

}  // namespace almanac::steer
