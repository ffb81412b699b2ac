// SPDX-License-Identifier: Apache-2.0
#include "base/step_back.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace almanac {

// To Linux a thread is a process with a number of its own.

void step_back() {
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

void step_forward() {
  const int usual = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid()));
  std::error_code none;  // then no thread is found
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const auto number =
        static_cast<id_t>(std::strtoul(thread.path().filename().c_str(), nullptr, 10));
    ::setpriority(PRIO_PROCESS, number, usual);
  }
}

}  // namespace almanac
