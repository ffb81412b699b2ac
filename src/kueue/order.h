// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order that Almanac wants for the workloads of a queue that wait. Lever `order` of a live
/// cluster (room steer_kube) and policy kueue, which simulates that lever, share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "kueue/backfill.h"
#include "kueue/world.h"

namespace almanac::kueue {

/// A workload that has waited longer goes first, the longest wait first.
inline constexpr Duration kAgeCap = 24h * 7;

/// The place of a workload in the order of its queue; sorts as its members do.
struct OrderKey {
  std::int64_t above = 0;  ///< Priority without rank, negated.
  bool is_young = true;    ///< It has not waited longer than the age cap.
  double gpu_time_s = 0;   ///< Expected; 0 for one that is old, infinite if unknown.
  std::size_t number = 0;  ///< In order of creation.

  OrderKey(std::int64_t priority, bool is_old, double expected_gpu_s, std::size_t created)
      : above(-priority),
        is_young(!is_old),
        gpu_time_s(is_old ? 0 : expected_gpu_s),
        number(created) {}
  bool operator<(const OrderKey& other) const {
    return std::tie(above, is_young, gpu_time_s, number) <
           std::tie(other.above, other.is_young, other.gpu_time_s, other.number);
  }
};

/// Those of a StrictFIFO queue that go first.
struct Front {
  std::vector<std::size_t> first{};  ///< Positions in the line, in the order to reach.
  std::vector<std::size_t> bands{};  ///< Where bands of ranks end (ranks.h).
};

/// At most this many of a line are looked at by front_of().
inline constexpr std::size_t kMostLined = 400;

/// Returns those that start now, and then the one that the queue waits for. Requirements and cost
/// as backfill().
Front front_of(World& world, QueueAt queue, std::span<const Holding> holding,
               std::span<const Waiting> line);

/// Returns the rest of a run that is expected to take `run`, after `age`. One that has outlived its
/// estimate is expected to run as long again, but not beyond its limit. kNoDuration = there is no
/// such estimate, or limit.
Duration expected_rest(Duration run, Duration limit, Duration age);

/// Whether a workload can never be admitted, whatever ends.
bool never_starts(const World& world, const Workload& workload);

}  // namespace almanac::kueue
