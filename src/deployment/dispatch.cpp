// SPDX-License-Identifier: Apache-2.0

#include "deployment/dispatch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace almanac::deployment {
namespace {

class Play {
 public:
  Play(std::span<const Variant> variants, RequestSource& source, int gpus, Dispatcher& dispatcher)
      : variants_(variants),
        source_(source),
        dispatcher_(dispatcher),
        gpus_(static_cast<std::size_t>(gpus)),
        queues_(variants.size()) {}

  DispatchedRun run() {
    while (true) {
      double at = std::min(source_.next_ms(), dispatcher_.next_ms());
      for (const Gpu& gpu : gpus_) at = std::min(at, gpu.ends_ms);
      if (at == kNone) return run_;
      now_ms_ = at;
      for (Gpu& gpu : gpus_) {
        if (gpu.ends_ms == at) finish(gpu);
      }
      while (source_.next_ms() == at) {
        for (const TimedRequest& each : source_.take()) add(each);
      }
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

  struct Begun {
    int done = 0, gpu = -1;
  };

  void add(const TimedRequest& request) {
    requests_.push_back(request);
    begun_.emplace_back();
    run_.finish_ms.push_back(kNone);
    queue(requests_.size() - 1);
  }

  void queue(std::size_t request) {
    auto& queue = queues_[requests_[request].variant];
    const Queued made{request, requests_[request].deadline_ms, begun_[request].done,
                      begun_[request].gpu};
    queue.insert(std::upper_bound(queue.begin(), queue.end(), made,
                                  [](const Queued& a, const Queued& b) {
                                    return a.deadline_ms < b.deadline_ms;
                                  }),
                 made);
  }

  void finish(Gpu& gpu) {
    const Dispatched ran = *gpu.running;
    leave(gpu);
    for (std::size_t at = 0; at < ran.requests.size(); ++at) {
      const std::size_t each = ran.requests[at];
      if (!ran.operators.empty()) {
        begun_[each] = {begun_[each].done + ran.operators[at],
                        static_cast<int>(&gpu - gpus_.data())};
        if (begun_[each].done < variants_[requests_[each].variant].operators) {
          queue(each);
          continue;
        }
      }
      run_.finish_ms[each] = now_ms_;
      run_.in_time += now_ms_ <= requests_[each].deadline_ms;
      tell(each, now_ms_);
    }
  }

  void tell(std::size_t request, double at_ms) {
    if (const auto more = source_.hear(request, at_ms)) add(*more);
  }

  /// What is too late even alone.
  void drop_late() {
    std::vector<std::size_t> late;
    for (std::size_t variant = 0; variant < queues_.size(); ++variant) {
      const Variant& it = variants_[variant];
      std::erase_if(queues_[variant], [&](const Queued& each) {
        const double left = static_cast<double>(it.operators - each.done) / it.operators;
        if (now_ms_ + it.batch_ms(1, 1) * left <= each.deadline_ms) return false;
        late.push_back(each.request);
        return true;
      });
    }
    for (const std::size_t each : late) tell(each, kNone);
  }

  void leave(Gpu& gpu) {
    run_.busy_ms += now_ms_ - gpu.began_ms;
    gpu.running.reset();
    gpu.ends_ms = kNone;
  }

  void ask(Gpu& gpu) {
    drop_late();
    auto chosen = dispatcher_.choose({now_ms_, static_cast<int>(&gpu - gpus_.data()), variants_,
                                      queues_, gpu.running ? &*gpu.running : nullptr});
    if (!chosen) return;
    ALMANAC_CHECK(!chosen->requests.empty(), "a dispatcher chose a batch of nothing");
    if (gpu.running) {
      ++run_.preempted;
      for (const std::size_t each : gpu.running->requests) queue(each);
      leave(gpu);
    }
    for (const std::size_t each : chosen->requests) {
      auto& queue = queues_[requests_[each].variant];
      const auto removed =
          std::erase_if(queue, [&](const Queued& other) { return other.request == each; });
      ALMANAC_CHECK(removed == 1, "request {} does not wait", each);
    }
    gpu.began_ms = now_ms_;
    const auto size = static_cast<int>(chosen->requests.size());
    gpu.ends_ms =
        now_ms_ + (chosen->operators.empty() ? variants_[chosen->variant].batch_ms(size, 1)
                                             : chosen->takes_ms);
    gpu.running = std::move(chosen);
  }

  std::span<const Variant> variants_;
  RequestSource& source_;
  Dispatcher& dispatcher_;
  std::vector<TimedRequest> requests_;
  std::vector<Gpu> gpus_;
  std::vector<std::vector<Queued>> queues_;  // by variant, the least deadline first
  std::vector<Begun> begun_;
  DispatchedRun run_;
  double now_ms_ = 0;
};

}  // namespace

DispatchedRun play_dispatched(std::span<const Variant> variants, RequestSource& source, int gpus,
                              Dispatcher& dispatcher) {
  return Play(variants, source, gpus, dispatcher).run();
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

}  // namespace almanac::deployment
