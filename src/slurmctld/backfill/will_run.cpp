// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/will_run.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

/// Ends are tried in windows that begin with this length.
constexpr Seconds kWindow = 30;
/// Jobs that end within one window, at most.
constexpr int kMostEnds = 200;

bool overlaps(const Allocation& allocation, const NodeBits& nodes) {
  return std::any_of(allocation.shares.begin(), allocation.shares.end(),
                     [&](const Share& share) { return nodes.contains(share.node); });
}

/// The ends of running jobs, window by window.
class Ends {
 public:
  Ends(const std::vector<RunningJob>& running, const NodeBits& nodes, Seconds linear_window)
      : running_(running), nodes_(nodes), linear_window_(linear_window) {}

  /// Gives back what the jobs of the next window hold. Returns the last end, or nothing if no job
  /// is left.
  std::optional<Seconds> next_window(Room& room) {
    std::optional<Seconds> last;
    for (int ends = 0; at_ < running_.size();) {
      const RunningJob& job = running_[at_++];
      if (!overlaps(*job.allocation, nodes_)) continue;
      if (first_ == 0) first_ = job.end + kWindow - job.end % kWindow;
      last = job.end;
      room.give_back(*job.allocation);
      // Whether the next job overlaps is not looked at.
      if (at_ >= running_.size() || running_[at_].end > first_ + window_ || ++ends > kMostEnds) {
        break;
      }
    }
    do {
      window_ += linear_window_ > 0 ? linear_window_ : window_;
    } while (at_ < running_.size() && running_[at_].end > first_ + window_);
    return last;
  }

 private:
  const std::vector<RunningJob>& running_;
  const NodeBits& nodes_;
  Seconds linear_window_;
  std::size_t at_ = 0;
  Seconds first_ = 0;  // end of the first job, rounded up to a window
  Seconds window_ = kWindow;
};

}  // namespace

std::optional<PlannedStart> will_run(const Room& room, const Question& question,
                                     const std::vector<RunningJob>& running, Seconds now,
                                     const WillRunSettings& settings) {
  if (auto allocation = choose(room, question)) return PlannedStart{now, std::move(*allocation)};
  Room future = room;
  Ends ends(running, question.candidates, settings.linear_window);
  while (const std::optional<Seconds> end = ends.next_window(future)) {
    auto allocation = choose(future, question);
    if (!allocation) continue;
    const Seconds start = *end > now ? *end : std::max(*end + settings.overrun, now + 1);
    return PlannedStart{start, std::move(*allocation)};
  }
  return std::nullopt;
}

}  // namespace almanac::slurmctld
