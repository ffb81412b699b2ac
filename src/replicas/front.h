// SPDX-License-Identifier: Apache-2.0

/// \file
/// The door of a service: takes HTTP requests and passes answers through as they come.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "replicas/pool.h"
#include "replicas/tally.h"

namespace almanac::replicas {

/// A request whose replica fails before the first bytes of its answer is given to another one. If
/// the replica fails later, the answer is cut off, and a stream of events ends with an event that
/// says so: its client cannot take it for whole. A client that leaves gives its place free within
/// a moment, in the queue and at the replica, whose connection is closed.
///
/// Refuses what cannot be passed on safely: bodies above a limit (413), more bytes of requests than
/// the service may hold in memory (503), and heads that two servers could read differently (400;
/// RFC 9112 section 6.3: Content-Length twice, or beside Transfer-Encoding; Host twice).
///
/// Cost: two threads a request while it is answered; a request body is held three times.
class Front {
 public:
  struct Limits {
    Duration patience = 10min;             ///< A request's wait for a replica, over all tries.
    Duration first_byte = 10min;           ///< A replica's time until the first byte of its answer.
    Duration silence = 10min;              ///< Between two pieces of an answer.
    Duration reading = 30s;                ///< Between two pieces of a request.
    Duration request = 5min;               ///< For a request to come in whole.
    int at_once = 512;                     ///< Requests in hand; others wait to be accepted.
    std::size_t request_bytes = 64 << 20;  ///< Head and body of one request.
    std::size_t held_bytes = 256 << 20;    ///< Heads and bodies of all requests in hand.
  };
  /// Answers on 127.0.0.1:`port` (0 = any that is free) from now on. `status` answers
  /// GET /almanac/status. Fails with unavailable where the port is taken.
  static Result<std::unique_ptr<Front>> start(int port, Pool& pool, Tally& tally,
                                              std::function<std::string()> status,
                                              const Limits& limits);
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  /// Refuses what is new and returns when what is in hand is answered, streams too.
  ~Front();

  int port() const;

 private:
  class Door;
  explicit Front(std::unique_ptr<Door> door);
  std::unique_ptr<Door> door_;
};

}  // namespace almanac::replicas
