// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replicas that accept requests, and the requests that wait for one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "inference/load.h"

namespace almanac::replicas {

using Instant = std::chrono::steady_clock::time_point;

/// Names a replica. Numbers ascend and are never reused.
enum class ReplicaId : std::int64_t {};

/// Gives each request to the open replica with the fewest, first come, first served. Thread-safe.
///
/// Source   join the shortest queue, as in `inference/router/shortest_queue.cpp`.
class Pool {
 public:
  struct Limits {
    int at_once = 16;          ///< Requests of one replica at the same time; others wait.
    std::size_t waits = 1024;  ///< Requests that may wait.
  };
  /// A request's place at a replica.
  struct Lent {
    ReplicaId replica{};
    int port = 0;
  };
  explicit Pool(Limits limits) : limits_(limits) {}

  /// Waits until a replica accepts the request, at most until `until`. Returns nothing if that time
  /// passes, too many requests wait, the pool is shut, or the client left. Calls `has_client_left`
  /// every 100 ms.
  std::optional<Lent> lend(Instant until, const std::function<bool()>& has_client_left);
  /// Ends a request. `failed` means that the replica did not answer it; the replica accepts no more
  /// requests until it is opened again.
  void give_back(ReplicaId replica, bool failed);

  void open(ReplicaId replica, int port);
  /// Stops giving requests to `replica`; those in progress continue.
  void close(ReplicaId replica);
  bool is_open(ReplicaId replica) const;
  /// Returns the number of requests that `replica` has.
  int busy(ReplicaId replica) const;
  /// Refuses all requests from now on, those that wait included.
  void shut();
  /// Returns the load, without `kv_use` and `starting`, which the pool does not know.
  inference::Load load() const;

 private:
  struct Replica {
    int port = 0;
    int busy = 0;
    bool is_open = false;
  };
  /// Returns the open replica with the fewest requests that has room; null = none.
  std::pair<const ReplicaId, Replica>* free_one();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<ReplicaId, Replica> replicas_;
  std::deque<std::uint64_t> waiting_;  // tickets, in order
  std::uint64_t tickets_ = 0;
  std::int64_t arrived_ = 0;
  bool shut_ = false;
};

}  // namespace almanac::replicas
