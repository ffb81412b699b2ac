// SPDX-License-Identifier: Apache-2.0

/// \file
/// How an operator controls the daemon of a managed cluster: by files in its state folder. This
/// needs rights on the folder only, and works while the daemon is busy or dead.
///
/// levers.json   the switches: {"order": "on"}; outlives the daemon
/// undo          there = take back all that was done; gone when that is done. What levers are
/// turned, and why: {"levers": "off", "why": "as it was before Almanac"}
/// status.json   what the daemon did and would do, written every few seconds
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "service/manager.h"
#include "steer/driver.h"

namespace almanac::steer {

using Switches = std::map<std::string, Switch>;

/// Switches that were ever set; empty if none was. Fails with corrupt.
Result<Switches> read_switches(const std::string& state);
/// Reads the switches, lets `change` modify them, and writes them under a lock, so that two
/// processes lose no change. A corrupt file counts as empty.
Result<void> change_switches(const std::string& state,
                             const std::function<void(Switches&)>& change);

/// A request to undo all changes, and to set all levers that are on to `levers`.
struct Retreat {
  Switch levers = Switch::off;
  std::string why = "as it was before Almanac";
};

Result<void> ask_for_undo(const std::string& state, const Retreat& how = {});
/// Nothing if no undo is requested. A file that cannot be read requests the usual one.
std::optional<Retreat> asked_undo(const std::string& state);
inline bool undo_is_asked(const std::string& state) { return asked_undo(state).has_value(); }
void undo_is_done(const std::string& state);

struct Status {
  Time at{};  ///< Wall clock.
  std::int64_t process = 0;
  service::Manager manager{};  ///< Without the canary.
  std::string policy{};
  std::int64_t waiting = 0, running = 0;
  std::vector<std::string> warnings{};
  std::string canary{};             ///< Figures of the canary, in words; "" if there is none.
  std::vector<std::string> left{};  ///< Changes that the last undo could not undo, in words.
};
Result<void> write_status(const std::string& state, const Status& status);
/// Fails with not_found if no daemon ever ran on the folder.
Result<Status> read_status(const std::string& state);

}  // namespace almanac::steer
