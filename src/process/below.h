// SPDX-License-Identifier: Apache-2.0

/// \file
/// All processes below this one: waits for them and ends them.
///
/// Once we are their reaper (PR_SET_CHILD_SUBREAPER) everything stays below us, also what makes
/// itself a daemon, and "no child left" (ECHILD) is proof that nothing runs any more.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include <sys/types.h>

#include "process/tree.h"

namespace almanac::process {

/// Those that lose their parent become our children.
void become_reaper();
/// Reaps the children that have ended, without waiting; `hear` is told which, and its status as
/// waitpid(2) has it. False once there is no child.
bool reap(const std::function<void(pid_t, int)>& hear);

/// Asks to end (SIGTERM), each once; those that are stopped are continued, to hear it.
class Asking {
 public:
  /// All below us.
  void all();
  /// Those only that have lost their parent: to be done whenever one has ended after that. A shell
  /// may be just starting a process as it dies; but what one that lives on starts in order to end
  /// well (a copy of its work to elsewhere) is not ours to disturb. A process that was asked
  /// between its fork and its exec is asked again after the exec: a shell's child forgets what came
  /// before.
  void orphans();
  /// Whether a process is between the two: then orphans() is to be called again soon. One that only
  /// ever forks stays there until it ends.
  bool unsure() const { return !unborn_.empty(); }

 private:
  void ask(const Descendant& some);

  std::set<pid_t> asked_;
  std::set<pid_t> unborn_;  // asked before their exec
};

/// SIGKILL. To be done again and again until reap() says that there is none: they may start others
/// meanwhile.
void kill_all_below();
/// Gives each thread, and what it starts, these processors.
void bind_all_below(const std::vector<int>& cpus);

}  // namespace almanac::process
