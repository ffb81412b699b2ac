// SPDX-License-Identifier: Apache-2.0
#include "kueue/backfill.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "kueue/assign.h"

namespace almanac::kueue {
namespace {

/// How many workloads behind the head are looked at.
constexpr std::size_t kMostLooked = 200;

class Backfiller {
 public:
  Backfiller(World& world, QueueAt queue, std::span<const Holding> holding)
      : world_(world), queue_(queue), holding_(holding.begin(), holding.end()) {
    std::erase_if(holding_, [](const Holding& each) { return each.left == kNoDuration; });
  }

  Backfill run(std::span<const Waiting> line) {
    const QuotaTree before = world_.tree;
    std::size_t last = line.size();
    for (std::size_t at = 0; at < last && made_.now.size() < kMostNow; ++at) {
      const Waiting& each = line[at];
      // What does not fit keeps lower priorities from the queue's front, whatever their ranks.
      if (is_stuck_ && each.priority != stuck_priority_) break;
      const std::optional<Wants>& usage = known_usage(each);
      if (!usage) {
        if (!made_.head && reserve(each)) {
          made_.head = at;
          last = std::min(last, at + 1 + kMostLooked);
        }
        is_stuck_ = true;
        stuck_priority_ = each.priority;
        continue;
      }
      if (made_.head && !lets_head_start(each, *usage)) continue;
      world_.tree.take(queue_, *usage);
      if (each.run != kNoDuration) holding_.push_back({*usage, each.run});
      made_.now.push_back(at);
      // What did not fit before does not fit now.
      std::erase_if(usages_, [](const auto& of) { return of.second.has_value(); });
    }
    world_.tree = before;
    return std::move(made_);
  }

 private:
  /// The same as usage_now(), computed once for all workloads of the same pods.
  const std::optional<Wants>& known_usage(const Waiting& waiting) {
    const std::uint32_t pods = waiting.workload->pods_shape;
    const auto known = usages_.find(pods);
    if (known != usages_.end()) return known->second;
    return usages_.emplace(pods, usage_now(waiting)).first->second;
  }

  /// The quota that a workload would get now; nothing if it does not fit.
  std::optional<Wants> usage_now(const Waiting& waiting) {
    Nomination found = nominate(world_, *waiting.workload, 0);
    if (found.assignment.fit() != Fit::now) return std::nullopt;
    return std::move(found.assignment.usage);
  }

  /// Finds when the head fits, and what is then left beside it. Returns false if it never does.
  bool reserve(const Waiting& head) {
    std::stable_sort(holding_.begin(), holding_.end(),
                     [](const Holding& a, const Holding& b) { return a.left < b.left; });
    QuotaTree now = world_.tree;
    std::optional<Wants> usage;
    // Frees the first `ended`, and tries.
    const auto fits_after = [&](std::size_t ended) {
      world_.tree = now;
      for (std::size_t at = 0; at < ended; ++at) {
        world_.tree.give_back(queue_, holding_[at].usage);
      }
      usage = usage_now(head);
      return usage.has_value();
    };
    std::size_t low = 0;  // too few
    std::size_t high = holding_.size();
    if (!fits_after(high)) {
      world_.tree = std::move(now);
      return false;
    }
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (fits_after(middle) ? high : low) = middle;
    }
    ALMANAC_CHECK(fits_after(high), "a workload that fitted does not");
    // Others end at the same time.
    for (std::size_t at = high;
         at < holding_.size() && holding_[at].left == holding_[high - 1].left; ++at) {
      world_.tree.give_back(queue_, holding_[at].usage);
    }
    starts_in_ = holding_[high - 1].left;
    world_.tree.take(queue_, *usage);
    beside_.emplace(std::move(world_.tree));
    world_.tree = std::move(now);
    return true;
  }

  /// Whether it ends before the head starts, or fits beside it; then it takes that.
  bool lets_head_start(const Waiting& waiting, const Wants& usage) {
    if (waiting.run != kNoDuration && waiting.run <= starts_in_) return true;
    const bool fits = std::all_of(usage.begin(), usage.end(), [&](const Want& want) {
      return beside_->left(queue_, want.slot) >= want.amount;
    });
    if (fits) beside_->take(queue_, usage);
    return fits;
  }

  World& world_;
  QueueAt queue_;
  std::vector<Holding> holding_;  ///< Those that end.
  Backfill made_{};
  std::map<std::uint32_t, std::optional<Wants>> usages_{};  ///< By Workload::pods_shape.
  bool is_stuck_ = false;
  std::int64_t stuck_priority_ = 0;
  Duration starts_in_{};               ///< Of the head.
  std::optional<QuotaTree> beside_{};  ///< What is left when the head has started.
};

}  // namespace

Backfill backfill(World& world, QueueAt queue, std::span<const Holding> holding,
                  std::span<const Waiting> line) {
  return Backfiller(world, queue, holding).run(line);
}

}  // namespace almanac::kueue
