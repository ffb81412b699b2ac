// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a forked process does to become a command.
///
/// The steps are separate, so that the caller can act in between: as the user of the command before
/// any of that user's files is accessed, and in its folder before the command runs.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "process/user.h"

namespace almanac::process {

/// What to become; refers to data of the caller. Prepared before the fork.
struct Start {
  char* const* argv;
  char* const* environment;
  const char* directory;  ///< nullptr = ours.
  const int* cpus;
  int cpu_count;  ///< 0 for all of ours.
  int out;
  int err;
  int cgroup_procs;    ///< cgroup.procs, open for writing; -1 = stays in ours.
  const User* user{};  ///< nullptr = ours.
};

enum class Step : std::int32_t { none, fork, cgroup, cpus, user, directory, exec };

/// Enters a new session, the control group, the processors and the user. Returns the step that
/// failed, with errno, or none.
Step prepare(const Start& start);
/// Enters the directory. It may block forever if the file system does not answer.
Step enter(const Start& start);
/// Takes its input and output, lets go of all else and runs the command, looked for in the PATH of
/// its environment. Comes back only when that fails; errno says why.
void execute(const Start& start);

/// Says what step failed, and why.
Error step_error(Step step, int number, const std::string& program, const std::string& directory);

}  // namespace almanac::process
