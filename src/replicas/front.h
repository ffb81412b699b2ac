// SPDX-License-Identifier: Apache-2.0

/// \file
/// The door of a service: takes HTTP requests and passes answers through as they come.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "replicas/pool.h"
#include "replicas/tally.h"

namespace almanac::replicas {

/// A request whose replica fails before the first bytes of its answer is given to another one. One
/// whose replica fails later is cut off, a stream of events with an event that says so: its client
/// cannot take it for whole.
///
/// Cost: two threads a request while it is answered.
class Front {
 public:
  struct Limits {
    Duration patience = 10min;  ///< That a request waits for a replica, in all tries.
    Duration silence = 10min;   ///< Between two pieces of an answer.
    int at_once = 512;          ///< Requests in hand; others wait to be accepted.
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
