// SPDX-License-Identifier: Apache-2.0
#include "process/below.h"

#include <cerrno>
#include <csignal>
#include <set>
#include <string>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/cpus.h"
#include "process/tree.h"

namespace almanac::process {
void become_reaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

bool reap(const std::function<void(pid_t, int)>& hear) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended < 0) return errno != ECHILD;
    if (ended == 0) return true;
    hear(ended, status);
  }
}

void Asking::ask(const Descendant& some) {
  (some.executed ? asked_ : unborn_).insert(some.process);
  ::kill(some.process, SIGTERM);
  ::kill(some.process, SIGCONT);
}

void Asking::all() {
  for (const Descendant& each : tree_below(::getpid())) ask(each);
}

void Asking::orphans() {
  const std::set<pid_t> before = std::exchange(unborn_, {});
  for (const Descendant& each : tree_below(::getpid())) {
    const bool was_unborn = before.contains(each.process);
    if (was_unborn && !each.executed) unborn_.insert(each.process);
    const bool orphan = each.parent == ::getpid() && !asked_.contains(each.process);
    if (was_unborn ? each.executed : orphan) ask(each);
  }
}

void kill_all_below() {
  for (const pid_t process : descendants(::getpid())) ::kill(process, SIGKILL);
}

void bind_all_below(const std::vector<int>& cpus) {
  // A process that is born meanwhile to one not yet bound is found by the next pass.
  std::set<pid_t> bound;
  for (bool found = true; found;) {
    found = false;
    for (const pid_t process : descendants(::getpid())) {
      for (const pid_t thread : numbers_in("/proc/" + std::to_string(process) + "/task")) {
        if (!bound.insert(thread).second) continue;
        found = true;
        bind_to_cpus(thread, cpus.data(), static_cast<int>(cpus.size()));
      }
    }
  }
}

}  // namespace almanac::process
