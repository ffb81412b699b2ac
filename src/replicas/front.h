// SPDX-License-Identifier: Apache-2.0

/// \file
/// The HTTP server of a service: accepts requests and passes answers on as they arrive.
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

/// A request whose replica fails before the first bytes of its answer is sent to another one, three
/// in all. If the replica fails later, the answer is cut off, and a stream of events ends with an
/// event that reports this, so its client cannot consider it complete. When a client leaves, its
/// place in the queue or at the replica is free within a moment; the connection to the replica is
/// closed.
///
/// Refuses what cannot be passed on safely: bodies above a limit (413), more bytes of requests than
/// the service may hold in memory (503), and heads that two servers could read differently (400;
/// RFC 9112 section 6.3: Content-Length twice, or next to Transfer-Encoding; Host twice).
///
/// Cost: two threads per request until it is answered; memory of three times its body.
class Front {
 public:
  struct Limits {
    Duration patience = 10min;             ///< Longest wait for a replica, over all tries.
    Duration first_byte = 10min;           ///< Longest time until the first byte of an answer.
    Duration silence = 10min;              ///< Longest time between two pieces of an answer.
    Duration reading = 30s;                ///< Longest time between two pieces of a request.
    Duration request = 5min;               ///< Longest time for a request to arrive completely.
    int at_once = 512;                     ///< Requests in progress; others wait to be accepted.
    std::size_t request_bytes = 64 << 20;  ///< Head and body of one request.
    std::size_t held_bytes = 256 << 20;    ///< Heads and bodies of all requests in progress.
  };
  /// Begins to answer on 127.0.0.1:`port` (0 = any free port). `status` returns the answer to
  /// GET /almanac/status. Fails with unavailable if the port is taken.
  static Result<std::unique_ptr<Front>> start(int port, Pool& pool, Tally& tally,
                                              std::function<std::string()> status,
                                              const Limits& limits);
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  /// Refuses new requests, and returns when all in progress are answered, streams included.
  ~Front();

  int port() const;

 private:
  class Door;
  explicit Front(std::unique_ptr<Door> door);
  std::unique_ptr<Door> door_;
};

}  // namespace almanac::replicas
