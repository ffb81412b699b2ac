// SPDX-License-Identifier: Apache-2.0
#include "base/step_back.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace almanac {

void step_back() {
  constexpr int kNice = 10;
  // To Linux a thread is a process with a number of its own.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

}  // namespace almanac
