// SPDX-License-Identifier: Apache-2.0

/// \file
/// Accepts connections and answers requests.
///
/// One thread moves all bytes and never waits for a single client; a few workers answer complete
/// requests. A client that sends or reads slowly holds a bounded buffer until its deadline, nothing
/// else.
///
/// Cost     idle: none, the thread sleeps in epoll_wait(2). A request: two thread switches.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "process/descriptor.h"
#include "serve/limits.h"
#include "serve/message.h"
#include "serve/tls.h"

namespace almanac::serve {

class Listener {
 public:
  /// Answers on `sockets` from now on. Fails with `unavailable` if the system lacks resources.
  /// `tls` is for TCP clients; null for no encryption.
  static Result<std::unique_ptr<Listener>> start(std::vector<process::Descriptor> sockets,
                                                 Handler handler, const Limits& limits = {},
                                                 std::unique_ptr<Tls> tls = nullptr);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  /// Answers what is in hand, takes nothing new, returns when all threads have ended.
  ~Listener();

 private:
  class Loop;
  explicit Listener(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace almanac::serve
