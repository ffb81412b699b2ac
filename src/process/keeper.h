// SPDX-License-Identifier: Apache-2.0

/// \file
/// The process between us and a command: starts it, outlives it, and ends whatever it left behind.
///
/// The keeper is the reaper of all that the command starts (below.h). When the socket to us closes,
/// because we were killed, it ends all and goes.
#pragma once

#include <cstdint>

#include "process/become.h"

namespace almanac::process {

/// One packet on the socket, in either direction.
struct Message {
  enum class Kind : std::int32_t {
    started,  ///< value = its process id.
    /// Start failed: value is errno, detail is the step.
    failed,
    /// Ended: value is its status as in waitpid(2).
    ended,
    gone,  ///< nothing is left; value = how many would not go.
    end,   ///< to the keeper: end all; value = milliseconds between SIGTERM and SIGKILL.
  };
  Kind kind{};
  std::int32_t value = 0;
  Step detail{};
};

/// Runs the keeper in a process that was just forked; never returns.
[[noreturn]] void keep(const Start& start, int socket);

}  // namespace almanac::process
