// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replicas that take requests, and the requests that wait for one.
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

/// Names a replica; counts up, never used again.
enum class ReplicaId : std::int64_t {};

/// Gives each request to the replica that has fewest, first come first served. Thread-safe.
///
/// Source   join the shortest queue, as `inference/router/shortest_queue.cpp` has it.
class Pool {
 public:
  struct Limits {
    int at_once = 16;          ///< Requests of one replica; the others wait here.
    std::size_t waits = 1024;  ///< Requests that may wait.
  };
  /// A request's place at a replica.
  struct Lent {
    ReplicaId replica{};
    int port = 0;
  };
  explicit Pool(Limits limits) : limits_(limits) {}

  /// Waits until a replica takes a request, at most until then. Nothing = too late, too many wait,
  /// the pool is shut, or the client left, which is asked every 100 ms.
  std::optional<Lent> lend(Instant until, const std::function<bool()>& has_client_left);
  /// The request is over. `failed`: the replica did not answer it, and takes no more until it is
  /// opened again.
  void give_back(ReplicaId replica, bool failed);

  void open(ReplicaId replica, int port);
  /// It takes no more requests; those that it has go on.
  void close(ReplicaId replica);
  bool is_open(ReplicaId replica) const;
  /// Requests that it has.
  int busy(ReplicaId replica) const;
  /// Takes no more requests, nor lets any wait.
  void shut();
  /// `kv_use` and `starting` are not known here.
  inference::Load load() const;

 private:
  struct Replica {
    int port = 0;
    int busy = 0;
    bool is_open = false;
  };
  /// The open replica with fewest requests, that has room; null = none.
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
