// SPDX-License-Identifier: Apache-2.0

/// \file
/// How an operator reaches a daemon that steers a Slurm: by files in its state folder. That works
/// with any rights but the folder's, while the daemon is busy, and when it is dead.
///
///   levers.json   the switches: {"order": "on"}; outlives the daemon
///   undo          there = take back all that was done; gone when that is done. What levers are
///                 turned, and why: {"levers": "off", "why": "as it was before Almanac"}
///   status.json   what the daemon did and would do, written every few seconds
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

/// Those that were ever set; nothing where none was. Fails with corrupt.
Result<Switches> read_switches(const std::string& state);
/// Lets `change` have them as they are in the file now, and keeps what it makes of them: of two
/// processes that change them at once neither loses what the other did. A file that is corrupt
/// counts as one that has not been written yet.
Result<void> change_switches(const std::string& state,
                             const std::function<void(Switches&)>& change);

/// That all is taken back, and all levers that are on are turned so.
struct Retreat {
  Switch levers = Switch::off;
  std::string why = "as it was before Almanac";
};

Result<void> ask_for_undo(const std::string& state, const Retreat& how = {});
/// Nothing where none is asked for. A file that cannot be read asks for one as it is usual.
std::optional<Retreat> asked_undo(const std::string& state);
inline bool undo_is_asked(const std::string& state) { return asked_undo(state).has_value(); }
void undo_is_done(const std::string& state);

struct Status {
  Time at{};  ///< Of the wall.
  std::int64_t process = 0;
  service::Manager manager{};  ///< Without what is seen of the canary.
  std::string policy{};
  std::int64_t waiting = 0, running = 0;
  std::vector<std::string> warnings{};
  std::string canary{};             ///< What is seen of it, in words; "" = there is none.
  std::vector<std::string> left{};  ///< By the last undo, that could not be taken back; in words.
};
Result<void> write_status(const std::string& state, const Status& status);
/// Fails with not_found where no daemon ever ran on the folder.
Result<Status> read_status(const std::string& state);

}  // namespace almanac::steer
