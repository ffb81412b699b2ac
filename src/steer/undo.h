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
#include <vector>

#include "base/result.h"
#include "slurm/link.h"
#include "steer/driver.h"

namespace almanac::steer {

/// The journal of a state folder, and what stands of it.
Result<std::pair<Journal, Claims>> open_journal(const std::string& state);

struct TakenBack {
  std::int64_t changes = 0;
  /// What Slurm, or this way to it, refuses, in words; the journal has it as not undone.
  std::vector<std::string> left{};
};

/// Takes back all that still can be, in as many slices as `act` carries out. `mutex` is of `driver`
/// and `mirror`, and is not held while Slurm works. The journal says `why`. Fails with unavailable
/// where the controller, or the disk, does not take all of it now.
Result<TakenBack> take_back(Driver& driver, Mirror& mirror, std::mutex& mutex,
                            const std::function<void(Slice&)>& act,
                            const std::string& why = "as it was before Almanac");

/// The same on the folder of a service that does not run, whose levers are off then. Fails with
/// conflict where one does.
Result<TakenBack> undo_without_service(
    const std::string& state, const std::function<Result<std::unique_ptr<slurm::Link>>()>& connect);

}  // namespace almanac::steer
