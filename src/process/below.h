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

/// Makes processes that lose their parent our children.
void become_reaper();
/// Reaps children that have ended, without waiting. Calls `hear` with each process and its status
/// as in waitpid(2). Returns false once there is no child.
bool reap(const std::function<void(pid_t, int)>& hear);

/// Asks processes to end (SIGTERM), each once; continues stopped ones, so that they receive it.
class Asking {
 public:
  /// All below us.
  void all();
  /// Asks only processes that have lost their parent. Call whenever a process has ended after that.
  /// A shell may be starting a process as it dies, but a child of a living process may be part of
  /// its orderly end (a copy of its work to elsewhere), and must not be disturbed. A process that
  /// was asked between its fork and its exec is asked again after the exec, because the exec
  /// discards what came before.
  void orphans();
  /// Whether a process is between fork and exec, so that orphans() must be called again soon. A
  /// process that only forks stays there until it ends.
  bool unsure() const { return !unborn_.empty(); }

 private:
  void ask(const Descendant& some);

  std::set<pid_t> asked_;
  std::set<pid_t> unborn_;  // asked before their exec
};

/// Sends SIGKILL. Repeat until reap() reports that none is left, because they may start others
/// meanwhile.
void kill_all_below();
/// Gives each thread, and what it starts, these processors.
void bind_all_below(const std::vector<int>& cpus);

}  // namespace almanac::process
