// SPDX-License-Identifier: Apache-2.0
#include "rules/links/turns.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace almanac::links {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::infinity();
constexpr int kMostRounds = 64;
constexpr double kDone = 1e-9;  // part of a transfer that counts as none

class PlayedLink {
 public:
  PlayedLink(std::span<const Flow> flows, double capacity_gbps, bool in_turn)
      : capacity_(capacity_gbps), in_turn_(in_turn) {
    for (std::size_t at = 0; at < flows.size(); ++at) {
      const Flow& flow = flows[at];
      jobs_.push_back({.flow = flow, .at = at, .until = flow.period_ms - flow.sends_ms});
      if (flow.shift_ms) jobs_.back().until += *flow.shift_ms;
    }
    std::stable_sort(jobs_.begin(), jobs_.end(), [](const Sender& a, const Sender& b) {
      return a.flow.priority > b.flow.priority;
    });
  }

  std::vector<double> play(int steps) {
    const auto is_short = [&](const Sender& job) { return job.steps < steps; };
    while (std::any_of(jobs_.begin(), jobs_.end(), is_short) && all_steps_ < kMostRounds * steps) {
      advance();
      count(steps / 2);
      begin_transfers();
    }
    std::vector<double> stretches(jobs_.size());
    for (const Sender& job : jobs_) {
      const int counted = job.counted_from < 0 ? 0 : job.steps - job.counted_from;
      const double step = counted == 0 ? now_ / (job.steps + 1) : (job.last - job.from) / counted;
      stretches[job.at] = std::max(1.0, step / job.flow.period_ms);
    }
    return stretches;
  }

 private:
  struct Sender {
    Flow flow;
    std::size_t at = 0;  // position in what was given
    double until = 0;    // when it will have computed; kNotYet = it has
    double left = 0;     // of its transfer, as time alone
    double rate = 1;     // of its transfer, relative to what it asks
    bool sends = false;
    int steps = 0;
    int counted_from = -1;
    double from = 0;
    double last = 0;  // when its last step ended
  };

  bool waits(const Sender& job) const { return !job.sends && job.until <= now_; }
  double demand_of(const Sender& job) const {
    return job.flow.gbps > 0 ? job.flow.gbps : capacity_;
  }
  /// Sets the speed of each transfer at present, relative to its demand: higher priorities first,
  /// equal ones alike.
  void share_link() {
    double left = capacity_;
    for (auto first = jobs_.begin(); first != jobs_.end();) {
      double sent = 0;
      auto last = first;
      for (; last != jobs_.end() && last->flow.priority == first->flow.priority; ++last) {
        sent += last->sends ? demand_of(*last) : 0;
      }
      const double rate = sent > left ? left / sent : 1;
      for (; first != last; ++first) first->rate = rate;
      left = std::max(0.0, left - sent * rate);
    }
  }

  /// To the next end of a computation or a transfer.
  void advance() {
    share_link();
    double next = kNotYet;
    for (const Sender& job : jobs_) {
      if (waits(job)) continue;
      next = std::min(next, job.sends ? now_ + job.left / job.rate : job.until);
    }
    for (Sender& job : jobs_) {
      if (!job.sends) continue;
      const bool ends = now_ + job.left / job.rate <= next;
      job.left = ends ? 0 : job.left - (next - now_) * job.rate;
      // Rounding must not make a transfer that is done wait for one of a higher priority.
      if (job.left < kDone * job.flow.sends_ms) job.left = 0;
    }
    now_ = next;
  }

  void count(int warm_up) {
    for (Sender& job : jobs_) {
      if (!job.sends || job.left > 0) continue;
      job.sends = false;
      job.until = now_ + job.flow.period_ms - job.flow.sends_ms;
      ++job.steps;
      ++all_steps_;
      job.last = now_;
      if (job.steps >= warm_up && job.counted_from < 0) {
        job.counted_from = job.steps;
        job.from = now_;
      }
    }
  }

  void begin_transfers() {
    for (;;) {
      Sender* next = nullptr;
      for (Sender& job : jobs_) {
        if (waits(job) && (next == nullptr || job.flow.sends_ms < next->flow.sends_ms)) next = &job;
      }
      if (next == nullptr || !may_begin(*next)) return;
      next->sends = true;
      next->left = next->flow.sends_ms;
      next->until = kNotYet;
    }
  }

  bool may_begin(const Sender& job) const {
    if (!in_turn_) return true;
    const Sender* other = nullptr;
    for (const Sender& each : jobs_) {
      if (!each.sends) continue;
      if (other != nullptr) return false;
      other = &each;
    }
    return other == nullptr || may_overlap(job.flow.sends_ms, other->left);
  }

  double capacity_;
  bool in_turn_;
  double now_ = 0;
  int all_steps_ = 0;
  std::vector<Sender> jobs_;
};

}  // namespace

std::vector<double> played_stretches(std::span<const Flow> flows, double capacity_gbps,
                                     bool in_turn, int steps) {
  return PlayedLink(flows, capacity_gbps, in_turn).play(steps);
}

}  // namespace almanac::links
