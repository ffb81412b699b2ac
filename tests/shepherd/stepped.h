// SPDX-License-Identifier: Apache-2.0

/// \file
/// A process that is killed before its nth step. A step is a call of the kernel that others can
/// see: to die before or after a call that only looks, or has to do with its own memory, is the
/// same.
#pragma once

#include <csignal>
#include <functional>
#include <set>

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace almanac::shepherd {

/// Whether a stopped process is about to take a step.
inline bool at_a_step(pid_t process) {
  static const std::set<std::uint64_t> kUnseen{
      SYS_read,       SYS_pread64,        SYS_close,           SYS_lseek,     SYS_fstat,
      SYS_newfstatat, SYS_getdents64,     SYS_readlinkat,      SYS_faccessat, SYS_faccessat2,
      SYS_poll,       SYS_ppoll,          SYS_fcntl,           SYS_getpid,    SYS_gettid,
      SYS_mmap,       SYS_munmap,         SYS_mprotect,        SYS_brk,       SYS_madvise,
      SYS_futex,      SYS_rt_sigprocmask, SYS_rt_sigaction,    SYS_prlimit64, SYS_getrandom,
      SYS_geteuid,    SYS_getegid,        SYS_set_tid_address, SYS_rseq,      SYS_set_robust_list,
#ifdef SYS_access
      SYS_access,     SYS_readlink,       SYS_arch_prctl,
#endif
  };
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info) <= 0) return false;
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY || kUnseen.contains(info.entry.nr)) return false;
  return info.entry.nr != SYS_openat || (info.entry.args[2] & (O_ACCMODE | O_CREAT)) != 0;
}

/// Runs `body` in a child and kills it before a step. False when it came to its end before. What it
/// starts is not stepped, and lives on.
inline bool killed_before(int step, const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  constexpr int kAtCall = SIGTRAP | 0x80;
  for (int steps = 0; steps < step;) {
    // A signal that stopped it is passed on; a call, the first stop and the exec are none.
    const int stop = WSTOPSIG(status);
    const int signal = stop == kAtCall || stop == SIGTRAP || stop == SIGSTOP ? 0 : stop;
    ::ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return false;
    if (WSTOPSIG(status) == kAtCall && at_a_step(child)) ++steps;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

/// Whether this machine lets us.
inline bool can_step() {
  return killed_before(1, [] { ::getppid(); });
}

}  // namespace almanac::shepherd
