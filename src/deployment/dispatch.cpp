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
  Play(std::span<const Variant> variants, RequestSource& source, int gpus, Dispatcher& dispatcher,
       const GpuMemory& memory)
      : variants_(variants),
        source_(source),
        dispatcher_(dispatcher),
        gpus_(static_cast<std::size_t>(gpus)),
        queues_(variants.size()),
        gib_(memory.gib),
        loads_(memory.placed.empty() && memory.gib < kNone),
        host_gib_(memory.host_gib) {
    if (!memory.placed.empty()) held_ = memory.placed;
    if (!loads_) return;
    held_.assign(gpus_.size(), std::vector<bool>(variants.size()));
    for (Gpu& gpu : gpus_) gpu.used_ms.resize(variants.size());
  }

  DispatchedRun run() {
    while (true) {
      double at = std::min(source_.next_ms(), dispatcher_.next_ms());
      for (const Gpu& gpu : gpus_) at = std::min({at, gpu.ends_ms, gpu.loaded_ms});
      if (at == kNone) return run_;
      now_ms_ = at;
      for (Gpu& gpu : gpus_) {
        if (gpu.ends_ms == at) finish(gpu);
        if (gpu.loaded_ms != at) continue;
        gpu.used_ms[*gpu.loading] = at;
        gpu.loading.reset();
        gpu.loaded_ms = kNone;
      }
      while (source_.next_ms() == at) {
        for (const TimedRequest& each : source_.take()) add(each);
      }
      for (Gpu& gpu : gpus_) ask(gpu);
      for (Gpu& gpu : gpus_) load(gpu);
    }
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Gpu {
    std::optional<Dispatched> running{};
    double began_ms = 0;
    double ends_ms = kNone;
    std::optional<std::size_t> loading{};  // variant
    double loaded_ms = kNone;
    std::vector<double> used_ms{};  // by variant, last
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

  /// Lets the GPU load what the dispatcher names, if what it need not keep leaves room.
  void load(Gpu& gpu) {
    if (!loads_ || gpu.loading) return;
    const auto number = static_cast<std::size_t>(&gpu - gpus_.data());
    const auto chosen =
        dispatcher_.load({now_ms_, static_cast<int>(number), variants_, queues_, held_});
    if (!chosen) return;
    std::vector<bool>& held = held_[number];
    ALMANAC_CHECK(!held[*chosen] && variants_[*chosen].load_s > 0, "variant {} cannot be loaded",
                  *chosen);
    double used = 0;
    std::vector<std::size_t> idle;
    for (std::size_t each = 0; each < held.size(); ++each) {
      if (!held[each]) continue;
      used += variants_[each].memory_gib;
      if (!runs(gpu, each) && !is_begun(number, each)) idle.push_back(each);
    }
    std::stable_sort(idle.begin(), idle.end(),
                     [&](std::size_t a, std::size_t b) { return gpu.used_ms[a] < gpu.used_ms[b]; });
    std::size_t leave = 0;
    for (; leave < idle.size() && used + variants_[*chosen].memory_gib > gib_; ++leave) {
      used -= variants_[idle[leave]].memory_gib;
    }
    if (used + variants_[*chosen].memory_gib > gib_) return;
    for (std::size_t each = 0; each < leave; ++each) held[idle[each]] = false;
    held[*chosen] = true;
    ++run_.loads;
    gpu.loading = chosen;
    gpu.loaded_ms = now_ms_ + 1e3 * (read_s(*chosen) + variants_[*chosen].load_s);
  }

  /// Seconds until the host has the variant; it has it from then on.
  double read_s(std::size_t variant) {
    if (host_gib_ == kNone) return 0;
    const bool is_there = std::erase(host_, variant) > 0;
    host_.push_back(variant);
    double used = 0;
    for (const std::size_t each : host_) used += variants_[each].memory_gib;
    while (used > host_gib_) {
      used -= variants_[host_.front()].memory_gib;
      host_.erase(host_.begin());
    }
    return is_there ? 0 : variants_[variant].disk_s;
  }

  bool runs(const Gpu& gpu, std::size_t variant) const {
    return gpu.running &&
           std::any_of(gpu.running->requests.begin(), gpu.running->requests.end(),
                       [&](std::size_t each) { return requests_[each].variant == variant; });
  }

  /// Whether a request waits that must use this GPU.
  bool is_begun(std::size_t gpu, std::size_t variant) const {
    return std::any_of(queues_[variant].begin(), queues_[variant].end(),
                       [&](const Queued& each) { return each.gpu == static_cast<int>(gpu); });
  }

  void leave(Gpu& gpu) {
    for (std::size_t each = 0; each < gpu.used_ms.size(); ++each) {
      if (runs(gpu, each)) gpu.used_ms[each] = now_ms_;
    }
    run_.busy_ms += now_ms_ - gpu.began_ms;
    gpu.running.reset();
    gpu.ends_ms = kNone;
  }

  void ask(Gpu& gpu) {
    drop_late();
    const auto number = static_cast<std::size_t>(&gpu - gpus_.data());
    std::vector<bool> ready;
    if (!held_.empty()) ready = held_[number];
    if (gpu.loading) ready[*gpu.loading] = false;
    auto chosen = dispatcher_.choose({now_ms_, static_cast<int>(number), variants_, queues_,
                                      gpu.running ? &*gpu.running : nullptr,
                                      held_.empty() ? nullptr : &ready});
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
  double gib_;
  bool loads_;  // GPUs load what they hold
  double host_gib_;
  std::vector<std::size_t> host_;        // variants in its memory, the last loaded at the end
  std::vector<std::vector<bool>> held_;  // by GPU, then variant; empty = all hold all
  std::vector<Begun> begun_;
  DispatchedRun run_;
  double now_ms_ = 0;
};

}  // namespace

const std::vector<Queued>& DispatchCase::queue(std::size_t variant) const {
  static const std::vector<Queued> none;
  return held == nullptr || (*held)[variant] ? queues[variant] : none;
}

bool LoadCase::is_held_anywhere(std::size_t variant) const {
  return std::any_of(held.begin(), held.end(),
                     [&](const std::vector<bool>& each) { return each[variant]; });
}

std::optional<std::size_t> Dispatcher::load(const LoadCase& seen) {
  std::optional<std::size_t> chosen;
  for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
    if (seen.queues[variant].empty() || seen.is_held_anywhere(variant)) continue;
    if (chosen &&
        seen.queues[*chosen].front().deadline_ms <= seen.queues[variant].front().deadline_ms) {
      continue;
    }
    chosen = variant;
  }
  return chosen;
}

DispatchedRun play_dispatched(std::span<const Variant> variants, RequestSource& source, int gpus,
                              Dispatcher& dispatcher, const GpuMemory& memory) {
  return Play(variants, source, gpus, dispatcher, memory).run();
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
