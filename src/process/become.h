// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a process that was just forked does to become a command.
///
/// In parts, so that the caller can do something between: as the user of the command, before
/// anything of that user's is looked at, and in its folder, but before it runs.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "process/user.h"

namespace almanac::process {

/// What to become; points to what the caller keeps. Made ready before the fork.
struct Start {
  char* const* argv;
  char* const* environment;
  const char* directory;  ///< nullptr = ours.
  const int* cpus;
  int cpu_count;  ///< 0 = all of ours.
  int out;
  int err;
  int cgroup_procs;    ///< cgroup.procs, open for writing; -1 = stays in ours.
  const User* user{};  ///< nullptr = ours.
};

enum class Step : std::int32_t { none, fork, cgroup, cpus, user, directory, exec };

/// Enters a session of its own, the control group, the processors, the user. Gives the step that
/// failed, errno says why; or none.
Step prepare(const Start& start);
/// The same for the directory. It may take for ever: the file system may not answer.
Step enter(const Start& start);
/// Takes its input and output, lets go of all else and runs the command, looked for in the PATH of
/// its environment. Comes back only when that fails; errno says why.
void execute(const Start& start);

/// Says what step failed, and why.
Error step_error(Step step, int number, const std::string& program, const std::string& directory);

}  // namespace almanac::process
