// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests with deadlines for several networks on GPUs that hold all of them, or those that fit:
/// the slot `dispatcher` says which batch runs next, whether it takes the place of one that runs,
/// and what a GPU loads.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "deployment/deployment.h"

namespace almanac::deployment {

struct TimedRequest {
  double arrival_ms = 0;
  double deadline_ms = 0;  ///< By then it must be answered.
  std::size_t variant = 0;
};

/// The undecided part of a request.
struct Queued {
  std::size_t request = 0;
  double deadline_ms = 0;
  int done = 0;  ///< Operators of it that have run.
  int gpu = -1;  ///< GPU that the request must use, if it has started; negative if not.
};

/// A batch of one variant; or operators of several requests that run at the same time.
struct Dispatched {
  std::size_t variant = 0;
  std::vector<std::size_t> requests{};
  std::vector<int> operators{};  ///< By request, the next operators; empty for all of a batch.
  double takes_ms = 0;           ///< If operators are given.
};

/// One GPU as a dispatcher sees it.
struct DispatchCase {
  double now_ms = 0;
  int gpu = 0;
  std::span<const Variant> variants{};
  /// By variant, earliest deadline first; without requests that can no longer be in time.
  std::span<const std::vector<Queued>> queues{};
  const Dispatched* running = nullptr;      ///< Null if the GPU is idle.
  const std::vector<bool>* held = nullptr;  ///< Variants that the GPU holds; null for all.

  /// Returns the queue of a variant, empty if the GPU does not hold it.
  const std::vector<Queued>& queue(std::size_t variant) const;
};

/// A GPU that can load a variant.
struct LoadCase {
  double now_ms = 0;
  int gpu = 0;
  std::span<const Variant> variants{};
  std::span<const std::vector<Queued>> queues{};  ///< As in DispatchCase, of all variants.
  std::span<const std::vector<bool>> held{};  ///< By GPU, then variant; with those being loaded.

  bool is_held_anywhere(std::size_t variant) const;
};

/// A cluster whose GPUs are to hold variants that stay.
struct PlaceCase {
  std::span<const Variant> variants{};
  std::span<const double> loads{};  ///< By variant: GPUs that its requests keep busy; 0 = not used.
  int gpus = 1;
  double gib = 0;  ///< Memory of a GPU.
};

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  /// Returns a batch to run now; nothing to leave the GPU as it is. A running batch is then lost,
  /// and its requests wait again. Called for each GPU whenever a request arrives or a batch ends.
  virtual std::optional<Dispatched> choose(const DispatchCase& seen) = 0;
  /// Returns when to call choose() even if no request arrives and no batch ends before; infinite if
  /// there is no need. After choose() it is later than now.
  virtual double next_ms() const { return std::numeric_limits<double>::infinity(); }
  /// Returns a variant for the GPU to load, which it does not hold; nothing for none. Called if the
  /// GPU loads nothing, as often as choose(). Default: the variant of the request with the earliest
  /// deadline among those that no GPU holds.
  virtual std::optional<std::size_t> load(const LoadCase& seen);
  /// Returns for each GPU the variants that it holds all the time; empty if GPUs load them as
  /// needed. Fails with unavailable.
  virtual Result<std::vector<std::vector<bool>>> place(const PlaceCase&) {
    return std::vector<std::vector<bool>>{};
  }
};

/// Memory of each GPU, and of their host.
struct GpuMemory {
  double gib = std::numeric_limits<double>::infinity();  ///< Infinite: all variants are loaded.
  std::vector<std::vector<bool>> placed{};               ///< What place() returned.
  double host_gib = std::numeric_limits<double>::infinity();  ///< Infinite: it has all variants.
};

struct DispatchedRun {
  std::vector<double> finish_ms{};  ///< By request, those that came of others behind; infinite =
                                    ///< dropped.
  std::size_t in_time = 0;
  std::size_t preempted = 0;  ///< Batches that were lost.
  double busy_ms = 0;         ///< Of all GPUs, including lost batches.
  std::size_t loads = 0;      ///< Of variants.
};

/// Produces requests and receives their outcomes. Requests are numbered as they arrive.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Returns when the next requests arrive; infinite if none will.
  virtual double next_ms() const = 0;
  /// Returns the next requests.
  virtual std::vector<TimedRequest> take() = 0;
  /// Reports that a request was answered at `at_ms`; infinite if dropped. May return one more
  /// request, which arrives now.
  virtual std::optional<TimedRequest> hear(std::size_t request, double at_ms) = 0;
};

/// Simulates requests. Drops a request that cannot be in time even alone. Cost: at each arrival
/// and end of a batch every GPU looks at all queues, so O(requests x GPUs x queued requests), plus
/// what the dispatcher does. With limited memory every GPU that loads nothing also looks at what
/// all GPUs hold: O(requests x GPUs^2 x variants) more.
///
/// With limited memory a GPU is empty at first, and loads one variant at a time, for load_s, while
/// it computes. Variants that it used longest ago leave for it, but none that is running or has
/// requests that must use the GPU. Each variant with requests must fit and have a load_s above 0.
/// With limited memory of the host a variant that is not there is first read from disk, for disk_s,
/// and those loaded longest ago leave for it.
///
/// Source   Dakkak et al., CLOUD'19 (TrIMS): models that all processes share, in tiers of GPU
///          memory, host memory and disk, from each of which the least recently used is reclaimed.
/// Differs  The GPUs share one host. There is no tier beyond the disk. A variant that is larger
///          than the memory of the host passes through it without staying.
DispatchedRun play_dispatched(std::span<const Variant> variants, RequestSource& source, int gpus,
                              Dispatcher& dispatcher, const GpuMemory& memory = {});

/// Returns the largest batch of a queue in which all requests are in time if it starts now: those
/// with the earliest deadlines that allow it. O(queue).
std::vector<std::size_t> largest_batch(const Variant& variant, const std::vector<Queued>& queue,
                                       double now_ms);

}  // namespace almanac::deployment
