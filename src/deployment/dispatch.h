// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests with deadlines for several networks on GPUs that hold all of them: the slot
/// `dispatcher` says which batch runs next, and whether it takes the place of one that runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "deployment/deployment.h"

namespace almanac::deployment {

struct TimedRequest {
  double arrival_ms = 0;
  double deadline_ms = 0;  ///< By then it must be answered.
  std::size_t variant = 0;
};

/// What of a request is left to decide.
struct Queued {
  std::size_t request = 0;
  double deadline_ms = 0;
  int done = 0;  ///< Operators of it that have run.
  int gpu = -1;  ///< Where they have, and the others must; below 0 = none has.
};

/// A batch of one variant; or operators of several requests that run at the same time.
struct Dispatched {
  std::size_t variant = 0;
  std::vector<std::size_t> requests{};
  std::vector<int> operators{};  ///< Of each request, the next ones; empty = all of a batch.
  double takes_ms = 0;           ///< Where operators are told.
};

/// One GPU as a dispatcher sees it.
struct DispatchCase {
  double now_ms = 0;
  int gpu = 0;
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
  std::vector<double> finish_ms{};  ///< By request, those that came of others behind; infinite =
                                    ///< dropped.
  std::size_t in_time = 0;
  std::size_t preempted = 0;  ///< Batches that were lost.
  double busy_ms = 0;         ///< Of all GPUs, lost batches included.
};

/// Where requests come from, and what hears what became of them. They count as they come.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// When the next ones come; infinite = none do any more.
  virtual double next_ms() const = 0;
  /// Those.
  virtual std::vector<TimedRequest> take() = 0;
  /// A request was answered at `at_ms`, infinite = dropped. What is returned is a request more,
  /// which comes now.
  virtual std::optional<TimedRequest> hear(std::size_t request, double at_ms) = 0;
};

/// Plays requests. One that cannot be in time even alone is dropped. O(requests x queue).
DispatchedRun play_dispatched(std::span<const Variant> variants, RequestSource& source, int gpus,
                              Dispatcher& dispatcher);
/// The same of requests that are sorted by arrival.
DispatchedRun play_dispatched(std::span<const Variant> variants,
                              const std::vector<TimedRequest>& requests, int gpus,
                              Dispatcher& dispatcher);

/// The largest batch of a queue of which all are in time if it starts now: of the least deadlines
/// that allow it. O(queue).
std::vector<std::size_t> largest_batch(const Variant& variant, const std::vector<Queued>& queue,
                                       double now_ms);

}  // namespace almanac::deployment
