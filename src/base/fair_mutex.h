// SPDX-License-Identifier: Apache-2.0

/// \file
/// A mutex that threads get in the order in which they request it. A thread that takes it again and
/// again delays the others by no more than one such turn.
///
/// Source   Mellor-Crummey and Scott, TOCS 1991, section 2.2 (ticket lock); here waiting threads
///          sleep.
#pragma once

#include <atomic>
#include <cstdint>

namespace almanac {

class FairMutex {
 public:
  void lock() {
    const std::uint32_t ticket = next_++;
    for (std::uint32_t now = served_; now != ticket; now = served_) served_.wait(now);
  }
  void unlock() {
    ++served_;
    served_.notify_all();
  }

 private:
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<std::uint32_t> served_ = 0;
};

}  // namespace almanac
