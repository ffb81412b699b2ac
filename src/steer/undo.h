// SPDX-License-Identifier: Apache-2.0

/// \file
/// Undoes the changes to a managed cluster, with or without a running service.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "manager/link.h"
#include "steer/driver.h"

namespace almanac::steer {

/// The journal of a state folder, and the changes in effect.
Result<std::pair<Journal, Claims>> open_journal(const std::string& state);

struct TakenBack {
  std::int64_t changes = 0;
  /// Changes that the manager, or this connection to it, refuses to undo, in words; they stay in
  /// the journal.
  std::vector<std::string> left{};
};

/// Undoes all changes that can be undone, in slices that `act` carries out. `mutex` guards `driver`
/// and `mirror`, and is not held while the manager works. The journal notes `why`. Fails with
/// unavailable if the controller or the disk does not accept everything now.
Result<TakenBack> take_back(Driver& driver, Mirror& mirror, std::mutex& mutex,
                            const std::function<void(Slice&)>& act,
                            const std::string& why = "as it was before Almanac");

/// Undoes all changes of a service that does not run, and sets its levers to off. Fails with
/// conflict if the service runs.
Result<TakenBack> undo_without_service(
    const std::string& state,
    const std::function<Result<std::unique_ptr<manager::Link>>()>& connect);

}  // namespace almanac::steer
