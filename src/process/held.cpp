// SPDX-License-Identifier: Apache-2.0
#include "process/held.h"

#include <sys/wait.h>

// The header of glibc 2.36 is for C.
extern "C" {
#include <sys/pidfd.h>
}

namespace almanac::process {

Descriptor hold(pid_t process) { return Descriptor(::pidfd_open(process, 0)); }

bool send_signal(const Descriptor& held, int signal) {
  return ::pidfd_send_signal(held.get(), signal, nullptr, 0) == 0;
}

void bury(const Descriptor& held) {
  siginfo_t ignored;
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(held.get()), &ignored,
           WEXITED | WNOHANG);
}

}  // namespace almanac::process
