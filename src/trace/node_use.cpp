// SPDX-License-Identifier: Apache-2.0
#include "trace/node_use.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <string_view>
#include <utility>

namespace almanac::trace {
namespace {

constexpr std::int64_t kGpuMilli = 1000;
constexpr Duration kOverlap = 1s;

/// What a job holds of a node.
struct HeldAmount {
  std::int64_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;
};

struct TimedHold {
  Time until{};
  HeldAmount amount{};
  bool operator>(const TimedHold& other) const { return until > other.until; }
};

/// One node, or its GPUs of one type, as the jobs come and go.
class NodePart {
 public:
  explicit NodePart(std::string_view type) { use_.gpu_type = type; }

  const std::string& type() const { return use_.gpu_type; }

  void start(Time from, Time to, const HeldAmount& amount, bool steady, NameId vc) {
    ++use_.jobs;
    if (std::find(use_.vcs.begin(), use_.vcs.end(), vc) == use_.vcs.end()) use_.vcs.push_back(vc);
    if (!steady) {
      reach(amount);
      return;
    }
    if (to - from > 2 * kOverlap) to -= kOverlap;
    leave_until(from);
    move_to(from);
    holds_.push({to, amount});
    add(amount, 1);
    reach(now_held_);
  }

  NodeUse finish(std::uint32_t node) {
    leave_until(Time::max());
    NodeUse made = std::move(use_);
    made.node = node;
    const auto level = static_cast<std::size_t>(made.gpus);
    double busy_s = 0;
    for (const double time_s : time_at_) busy_s += time_s;
    if (busy_s > 0 && level < time_at_.size()) made.share_of_time = time_at_[level] / busy_s;
    return made;
  }

 private:
  static int gpus_of(const HeldAmount& amount) {
    constexpr std::int64_t kMost = 1'000'000;
    return static_cast<int>(std::min((amount.gpu_milli + kGpuMilli - 1) / kGpuMilli, kMost));
  }

  void add(const HeldAmount& amount, std::int64_t sign) {
    now_held_.gpu_milli += sign * amount.gpu_milli;
    now_held_.cpu_milli += sign * amount.cpu_milli;
    now_held_.memory_mb += sign * amount.memory_mb;
  }

  void leave_until(Time time) {
    while (!holds_.empty() && holds_.top().until <= time) {
      move_to(holds_.top().until);
      add(holds_.top().amount, -1);
      holds_.pop();
    }
  }

  void move_to(Time time) {
    constexpr std::size_t kLevels = 65;  // more GPUs than a node can have are one level
    if (!holds_.empty() && time > since_) {
      const auto level =
          std::min<std::size_t>(kLevels, static_cast<std::size_t>(gpus_of(now_held_)));
      if (time_at_.size() <= level) time_at_.resize(level + 1);
      time_at_[level] += seconds(time - since_);
    }
    since_ = std::max(since_, time);
  }

  void reach(const HeldAmount& amount) {
    const int gpus = gpus_of(amount);
    if (gpus > use_.gpus) {
      use_.gpus = gpus;
      use_.reached = 0;
    }
    if (gpus == use_.gpus) ++use_.reached;
    use_.cpu_milli = std::max(use_.cpu_milli, amount.cpu_milli);
    use_.memory_mb = std::max(use_.memory_mb, amount.memory_mb);
  }

  NodeUse use_{};
  std::priority_queue<TimedHold, std::vector<TimedHold>, std::greater<>> holds_;
  HeldAmount now_held_{};
  Time since_ = Time::min();
  std::vector<double> time_at_;  // seconds with so many GPUs held, while any job ran
};

bool is_one_type(std::string_view type) {
  return !type.empty() && type.find('|') == std::string_view::npos;
}

class NodeSweep {
 public:
  NodeSweep(const Trace& trace, const HeldNodes& held, const std::vector<bool>& counts)
      : trace_(trace), held_(held), counts_(counts), parts_(held.names().size()) {}

  std::vector<NodeUse> run() {
    for (const Stay& stay : held_.stays()) {
      if (counts(stay)) find_types(stay);
    }
    for (std::vector<NodePart>& parts : parts_) {
      if (parts.empty()) parts.emplace_back("");
      std::sort(parts.begin(), parts.end(),
                [](const NodePart& a, const NodePart& b) { return a.type() < b.type(); });
    }
    for (const Stay& stay : held_.stays()) {
      if (counts(stay)) take(stay);
    }
    std::vector<NodeUse> made;
    for (std::uint32_t node = 0; node < parts_.size(); ++node) {
      for (NodePart& part : parts_[node]) {
        made.push_back(part.finish(node));
        if (made.back().jobs == 0) made.pop_back();
      }
    }
    return made;
  }

 private:
  bool counts(const Stay& stay) const { return counts_.empty() || counts_[stay.job]; }

  std::string_view type_of(const Stay& stay) const {
    return trace_.names[trace_.jobs[stay.job].request.gpu_type];
  }

  NodePart* find(std::uint32_t node, std::string_view type) {
    for (NodePart& part : parts_[node]) {
      if (part.type() == type) return &part;
    }
    return nullptr;
  }

  /// Jobs of one type tell that their nodes have it.
  void find_types(const Stay& stay) {
    const std::string_view type = type_of(stay);
    if (!is_one_type(type) || trace_.jobs[stay.job].request.gpus == 0) return;
    for (const Held& held : held_.held_in(stay)) {
      if (find(held.node, type) == nullptr) parts_[held.node].emplace_back(type);
    }
  }

  void take(const Stay& stay) {
    const Job& job = trace_.jobs[stay.job];
    const Request& request = job.request;
    const std::string_view type = type_of(stay);
    const auto nodes = static_cast<double>(stay.count);
    const auto share = [&](float amount, double units) {
      return std::isfinite(amount) && amount > 0 ? std::llround(double{amount} * units / nodes) : 0;
    };
    const bool all_named =
        request.nodes == 0 || request.nodes == static_cast<std::int32_t>(stay.count);
    HeldAmount amount;
    if (all_named) {
      amount.cpu_milli = share(request.cpus, 1000);
      amount.memory_mb = share(request.memory_gb, 1024);
    }
    for (const Held& held : held_.held_in(stay)) {
      std::vector<NodePart>& parts = parts_[held.node];
      NodePart* part = is_one_type(type) ? find(held.node, type) : nullptr;
      const bool is_sure = part != nullptr || parts.size() == 1;
      if (part == nullptr) part = &parts.front();
      HeldAmount own = amount;
      if (is_sure) {
        own.gpu_milli = std::llround(sure_gpus(request, stay, held) * request.gpu_part() *
                                     static_cast<double>(kGpuMilli));
      }
      part->start(stay.from, stay.to, own, stay.steady, request.vc);
    }
  }

  const Trace& trace_;
  const HeldNodes& held_;
  const std::vector<bool>& counts_;
  std::vector<std::vector<NodePart>> parts_;  // of each node
};

}  // namespace

std::vector<NodeUse> use_of_nodes(const Trace& trace, const HeldNodes& held,
                                  const std::vector<bool>& counts) {
  return NodeSweep(trace, held, counts).run();
}

std::vector<NodeUse> use_of_nodes(const Trace& trace, const HeldNodes& held) {
  return use_of_nodes(trace, held, {});
}

}  // namespace almanac::trace
