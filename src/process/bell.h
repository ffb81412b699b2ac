// SPDX-License-Identifier: Apache-2.0

/// \file
/// Wakes a thread that waits in poll(2) or epoll(7).
#pragma once

#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::process {

class Bell {
 public:
  Bell() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// Makes it readable. Any thread, and a signal handler.
  void ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(::write(event_.get(), &one, sizeof one));
  }
  /// Until it is rung again.
  void hush() const {
    std::uint64_t rung = 0;
    static_cast<void>(::read(event_.get(), &rung, sizeof rung));
  }
  int get() const { return event_.get(); }
  /// False if no descriptor was available.
  explicit operator bool() const { return static_cast<bool>(event_); }

 private:
  Descriptor event_;
};

}  // namespace almanac::process
