// SPDX-License-Identifier: Apache-2.0

/// \file
/// Follows a cluster with Kueue: a picture that stays current.
///
/// One thread follows each collection over lost connections and expired versions (collection.h).
/// While one of them is in trouble, the picture keeps what it had, and trouble() says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/wall_clock.h"
#include "kube/client.h"
#include "kube/picture.h"

namespace almanac::kube {

/// A workload that was deleted, in its last state.
struct Gone {
  Workload workload{};
  Time at = kNoTime;      ///< By the server's clock.
  bool was_seen = false;  ///< Nothing if false: it went while the connection was lost, before `at`.
};

/// Thread-safe.
class LiveCluster {
 public:
  /// Opens a connection of its own for each thread.
  using Connect = std::function<Result<Client>()>;

  /// Lists everything, and follows it from then on. `on_news` is called by other threads, also
  /// before open() returns. Fails like take_picture(), and with `unavailable` if the lists are not
  /// complete within a minute. `wall` is the clock of this machine.
  static Result<std::unique_ptr<LiveCluster>> open(Connect connect, std::string user_label,
                                                   std::function<void()> on_news,
                                                   std::function<Time()> wall = wall_clock);
  ~LiveCluster();

  /// Grows with each change.
  std::uint64_t revision() const;
  /// Cost: a copy of all workloads.
  Picture picture() const;
  /// Returns the workloads that were deleted since the last call.
  std::vector<Gone> take_gone();
  /// Why the picture may be out of date; "" if it is current.
  std::string trouble() const;
  /// The time by the server's clock, to the second.
  Time now() const;

 private:
  struct State;
  explicit LiveCluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace almanac::kube
