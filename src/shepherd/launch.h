// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts the command of a run, so that the folder never says less than what may have happened.
///
/// The child gets ready (group, processors, user, directory, log files) and waits; started.json is
/// written; only then the child may run the command. A command that has done anything is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "shepherd/bounds.h"
#include "shepherd/log.h"
#include "shepherd/record.h"
#include "shepherd/run.h"
#include "shepherd/terminal.h"

namespace almanac::shepherd {

struct Launched {
  pid_t process = -1;
  std::vector<Log> logs{};
  Started started{};
  std::optional<Terminal> terminal{};  ///< Its output goes through this, not through pipes.
};

/// Why a command does not run. None of it has run.
struct NotLaunched {
  enum class Fault : std::uint8_t {
    job,      ///< The request of the job is invalid: it can never run.
    account,  ///< Its user's account: the system does not know it now, or its disk quota is used
              ///< up. Other users' jobs are not affected.
    /// Processes, descriptors, memory or disk space are short: a later try may succeed. Conditions
    /// that a user can cause (no room for the log) do not count.
    machine,
  };
  Error why;
  Fault fault = Fault::job;
};

/// Launches in the group of `bounds`, or in ours if there is none.
tl::expected<Launched, NotLaunched> launch(const std::string& folder, const Spec& spec,
                                           const Bounds& bounds);

}  // namespace almanac::shepherd
