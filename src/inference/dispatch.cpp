// SPDX-License-Identifier: Apache-2.0

#include "inference/dispatch.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace almanac::inference {
namespace {

class Play {
 public:
  Play(std::span<const Variant> variants, const std::vector<TimedRequest>& requests, int gpus,
       Dispatcher& dispatcher)
      : variants_(variants),
        requests_(requests),
        dispatcher_(dispatcher),
        gpus_(static_cast<std::size_t>(gpus)),
        queues_(variants.size()) {
    run_.finish_ms.assign(requests.size(), kNone);
  }

  DispatchedRun run() {
    std::size_t next = 0;
    while (true) {
      double at = next < requests_.size() ? requests_[next].arrival_ms : kNone;
      for (const Gpu& gpu : gpus_) at = std::min(at, gpu.ends_ms);
      if (at == kNone) return run_;
      now_ms_ = at;
      for (Gpu& gpu : gpus_) {
        if (gpu.ends_ms == at) finish(gpu);
      }
      while (next < requests_.size() && requests_[next].arrival_ms == at) queue(next++);
      for (Gpu& gpu : gpus_) ask(gpu);
    }
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Gpu {
    std::optional<Dispatched> running{};
    double began_ms = 0;
    double ends_ms = kNone;
  };

  void queue(std::size_t request) {
    auto& queue = queues_[requests_[request].variant];
    const Queued made{request, requests_[request].deadline_ms};
    queue.insert(std::upper_bound(queue.begin(), queue.end(), made,
                                  [](const Queued& a, const Queued& b) {
                                    return a.deadline_ms < b.deadline_ms;
                                  }),
                 made);
  }

  void finish(Gpu& gpu) {
    for (const std::size_t each : gpu.running->requests) {
      run_.finish_ms[each] = now_ms_;
      run_.in_time += now_ms_ <= requests_[each].deadline_ms;
    }
    leave(gpu);
  }

  void leave(Gpu& gpu) {
    run_.busy_ms += now_ms_ - gpu.began_ms;
    gpu.running.reset();
    gpu.ends_ms = kNone;
  }

  void ask(Gpu& gpu) {
    for (std::size_t variant = 0; variant < queues_.size(); ++variant) {
      std::erase_if(queues_[variant], [&](const Queued& each) {
        return now_ms_ + variants_[variant].batch_ms(1, 1) > each.deadline_ms;
      });
    }
    auto chosen =
        dispatcher_.choose({now_ms_, variants_, queues_, gpu.running ? &*gpu.running : nullptr});
    if (!chosen) return;
    ALMANAC_CHECK(!chosen->requests.empty(), "a dispatcher chose a batch of nothing");
    if (gpu.running) {
      ++run_.preempted;
      for (const std::size_t each : gpu.running->requests) queue(each);
      leave(gpu);
    }
    auto& queue = queues_[chosen->variant];
    for (const std::size_t each : chosen->requests) {
      const auto removed =
          std::erase_if(queue, [&](const Queued& other) { return other.request == each; });
      ALMANAC_CHECK(removed == 1, "request {} does not wait", each);
    }
    gpu.began_ms = now_ms_;
    gpu.ends_ms =
        now_ms_ + variants_[chosen->variant].batch_ms(static_cast<int>(chosen->requests.size()), 1);
    gpu.running = std::move(chosen);
  }

  std::span<const Variant> variants_;
  const std::vector<TimedRequest>& requests_;
  Dispatcher& dispatcher_;
  std::vector<Gpu> gpus_;
  std::vector<std::vector<Queued>> queues_;  // by variant, the least deadline first
  DispatchedRun run_;
  double now_ms_ = 0;
};

}  // namespace

DispatchedRun play_dispatched(std::span<const Variant> variants,
                              const std::vector<TimedRequest>& requests, int gpus,
                              Dispatcher& dispatcher) {
  return Play(variants, requests, gpus, dispatcher).run();
}

std::vector<std::size_t> largest_batch(const Variant& variant, const std::vector<Queued>& queue,
                                       double now_ms) {
  std::vector<std::size_t> made;
  const std::size_t most =
      std::min(queue.size(), static_cast<std::size_t>(std::max(0, variant.most_batch)));
  for (std::size_t size = most; size > 0; --size) {
    const double ends = now_ms + variant.batch_ms(static_cast<int>(size), 1);
    const auto first = std::find_if(queue.begin(), queue.end(),
                                    [&](const Queued& each) { return each.deadline_ms >= ends; });
    if (static_cast<std::size_t>(queue.end() - first) < size) continue;
    for (std::size_t each = 0; each < size; ++each) {
      made.push_back(first[static_cast<std::ptrdiff_t>(each)].request);
    }
    break;
  }
  return made;
}

}  // namespace almanac::inference
