// SPDX-License-Identifier: Apache-2.0
#include "process/become.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <unistd.h>

#include "process/cpus.h"

namespace almanac::process {
namespace {

bool become_user(const User& user) {
  if (user.uid != 0 && user.uid == ::geteuid()) return true;
  const bool has_groups = !user.groups.empty();
  const int grouped =
      ::setgroups(has_groups ? user.groups.size() : 1, has_groups ? user.groups.data() : &user.gid);
  return grouped == 0 && ::setresgid(user.gid, user.gid, user.gid) == 0 &&
         ::setresuid(user.uid, user.uid, user.uid) == 0;
}

}  // namespace

Step prepare(const Start& start) {
  // A session of its own: no signal of our terminal reaches it, and its group can be told apart.
  ::setsid();
  if (start.cgroup_procs >= 0 && ::write(start.cgroup_procs, "0", 1) != 1) return Step::cgroup;
  if (start.cpu_count > 0 && !bind_to_cpus(0, start.cpus, start.cpu_count)) return Step::cpus;
  if (start.user != nullptr && !become_user(*start.user)) return Step::user;
  return Step::none;
}

Step enter(const Start& start) {
  const bool has_entered = start.directory == nullptr || ::chdir(start.directory) == 0;
  return has_entered ? Step::none : Step::directory;
}

void execute(const Start& start) {
  ::dup2(start.out, STDOUT_FILENO);
  ::dup2(start.err, STDERR_FILENO);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  environ = const_cast<char**>(start.environment);
  ::execvp(start.argv[0], start.argv);
}

Error step_error(Step step, int number, const std::string& program, const std::string& directory) {
  const std::string why = std::strerror(number);
  switch (step) {
    case Step::exec:
      return {number == ENOENT ? Code::not_found : Code::unavailable,
              fmt::format("cannot run {}: {}", program, why),
              {},
              number == ENOENT ? "check that it is installed and in PATH" : ""};
    case Step::directory:
      return {Code::not_found, fmt::format("cannot enter {}: {}", directory, why), {}, {}};
    case Step::cpus:
      return {Code::unavailable, fmt::format("cannot bind to the processors: {}", why), {}, {}};
    case Step::cgroup:
      return {Code::unavailable, fmt::format("cannot join the control group: {}", why), {}, {}};
    case Step::user:
      return {Code::unavailable, fmt::format("cannot become its user: {}", why), {}, {}};
    case Step::fork:
    case Step::none:
      break;
  }
  return {Code::unavailable, fmt::format("cannot start a process: {}", why), {}, {}};
}

}  // namespace almanac::process
