// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests with deadlines for several networks on GPUs that hold all of them: the slot
/// `dispatcher` says which batch runs next, and whether it takes the place of one that runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "inference/deployment.h"

namespace almanac::inference {

struct TimedRequest {
  double arrival_ms = 0;
  double deadline_ms = 0;  ///< By then it must be answered.
  std::size_t variant = 0;
};

/// What of a request is left to decide.
struct Queued {
  std::size_t request = 0;
  double deadline_ms = 0;
};

/// A batch of one variant.
struct Dispatched {
  std::size_t variant = 0;
  std::vector<std::size_t> requests{};
};

/// One GPU as a dispatcher sees it.
struct DispatchCase {
  double now_ms = 0;
  std::span<const Variant> variants{};
  /// By variant, the least deadline first; none that cannot be in time any more.
  std::span<const std::vector<Queued>> queues{};
  const Dispatched* running = nullptr;  ///< Null = the GPU is idle.
};

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  /// A batch to run now; nothing leaves the GPU as it is. Where something runs it is lost, and its
  /// requests wait again. Asked for each GPU whenever a request comes or a batch ends.
  virtual std::optional<Dispatched> choose(const DispatchCase& seen) = 0;
};

struct DispatchedRun {
  std::vector<double> finish_ms{};  ///< By request; infinite = dropped.
  std::size_t in_time = 0;
  std::size_t preempted = 0;  ///< Batches that were lost.
  double busy_ms = 0;         ///< Of all GPUs, lost batches included.
};

/// Plays requests, sorted by arrival. A request that cannot be in time even alone is dropped.
/// O(requests x queue).
DispatchedRun play_dispatched(std::span<const Variant> variants,
                              const std::vector<TimedRequest>& requests, int gpus,
                              Dispatcher& dispatcher);

/// The largest batch of a queue of which all are in time if it starts now: of the least deadlines
/// that allow it. O(queue).
std::vector<std::size_t> largest_batch(const Variant& variant, const std::vector<Queued>& queue,
                                       double now_ms);

}  // namespace almanac::inference
