// SPDX-License-Identifier: Apache-2.0

/// \file
/// The process between us and a command: starts it, outlives it, and ends whatever it left behind.
///
/// The keeper is the reaper (PR_SET_CHILD_SUBREAPER) of all that the command starts. So everything
/// stays below it, also what makes itself a daemon, and "no child left" (ECHILD) is proof that
/// nothing runs any more. When the socket to us closes, because we were killed, it ends all and
/// goes.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace almanac::process {

/// What to start; points to what the caller keeps. Made ready before the fork.
struct Start {
  char* const* argv;
  char* const* environment;
  const char* directory;  ///< nullptr = ours.
  const int* cpus;
  int cpu_count;  ///< 0 = all of ours.
  int out;
  int err;
  int cgroup_procs;  ///< cgroup.procs, open for writing; -1 = stays in ours.
};

/// One packet on the socket, either way.
struct Message {
  enum class Kind : std::int32_t {
    started,  ///< value = its process id.
    failed,   ///< to start: value = errno, detail = the step.
    ended,    ///< value = its status, as waitpid(2) has it.
    gone,     ///< nothing is left; value = how many would not go.
    end,      ///< to the keeper: end all; value = milliseconds between SIGTERM and SIGKILL.
  };
  enum class Step : std::int32_t { fork, cgroup, directory, cpus, exec };
  Kind kind{};
  std::int32_t value = 0;
  Step detail{};
};

/// Runs the keeper in a process that was just forked; never returns.
[[noreturn]] void keep(const Start& start, int socket);

}  // namespace almanac::process
