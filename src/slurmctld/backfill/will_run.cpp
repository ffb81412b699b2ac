// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/will_run.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

/// Ends are tried in windows that begin with this length.
constexpr Seconds kWindow = 30;
/// Jobs that end within one window, at most.
constexpr int kMostEnds = 200;

/// The ends of running jobs, window by window.
class Windows {
 public:
  Windows(const RunningJobs& running, FutureFits& fits, const NodeBits& candidates,
          Seconds linear_window)
      : running_(running), fits_(fits), candidates_(candidates), linear_window_(linear_window) {}

  /// Goes to the next window. Returns whether a holder is left to end in it.
  bool next() {
    int ends = 0;
    const RunningJob* holder = holder_at(ended_);
    if (holder == nullptr) return false;
    if (first_ == 0) first_ = holder->end + kWindow - holder->end % kWindow;
    while (holder != nullptr) {
      last_ = *holder;
      holder = holder_at(++ended_);
      // Whether the next job holds any of the nodes is not looked at.
      const bool ends_here = holder != nullptr && holder->end <= first_ + window_;
      if (!ends_here && running_.all.after(last_) > first_ + window_) break;
      if (++ends > kMostEnds) break;
    }
    const Seconds end = running_.all.after(last_);
    do {
      window_ += linear_window_ > 0 ? linear_window_ : window_;
    } while (end != Ends::kNever && end > first_ + window_);
    return true;
  }
  /// The last job to end in the window.
  const RunningJob& last() const { return last_; }
  /// Holders that have ended by then.
  std::size_t ended() const { return ended_; }

 private:
  const RunningJob* holder_at(std::size_t at) {
    return fits_.holder(at, candidates_, running_.in_zone);
  }
  const RunningJobs& running_;
  FutureFits& fits_;
  const NodeBits& candidates_;
  Seconds linear_window_;
  RunningJob last_;
  std::size_t ended_ = 0;
  Seconds first_ = 0;  // end of the first holder, rounded up to a window
  Seconds window_ = kWindow;
};

}  // namespace

Seconds WillRunSettings::guess_end(const RunningJob& job, Seconds now) const {
  const std::size_t partition = job.allocation->partition;
  const Seconds over = partition < over_limits.size() ? over_limits[partition] : 0;
  const Seconds end = over == kNoSeconds ? now + job.limit : job.end + kill_wait + over;
  return std::max(end, now + 1);
}

std::size_t Ends::position(const RunningJob& job) const {
  return static_cast<std::size_t>(std::lower_bound(jobs_.begin(), jobs_.end(), job) -
                                  jobs_.begin());
}

void Ends::add(RunningJob& job) {
  if (free_slots_.empty()) {
    job.slot = static_cast<std::uint32_t>(next_.size());
    next_.push_back(kNever);
  } else {
    job.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const std::size_t at = position(job);
  if (at > 0) next_[jobs_[at - 1].slot] = job.end;
  next_[job.slot] = end_at(at);
  jobs_.insert(jobs_.begin() + static_cast<std::ptrdiff_t>(at), job);
  ++version_;
}

void Ends::remove(const RunningJob& job) {
  const std::size_t at = position(job);
  if (at > 0) next_[jobs_[at - 1].slot] = end_at(at + 1);
  free_slots_.push_back(jobs_[at].slot);
  jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(at));
  ++version_;
}

NodeBits nodes_of(const Allocation& allocation, std::size_t nodes) {
  NodeBits bits(nodes);
  for (const Share& share : allocation.shares) bits.insert(share.node);
  return bits;
}

const RunningJob* FutureFits::holder(std::size_t at, const NodeBits& candidates,
                                     const std::vector<RunningJob>& running) {
  if (at < holders_.size()) return &holders_[at];
  if (has_all_) return nullptr;
  const auto from = holders_.empty()
                        ? running.begin()
                        : std::upper_bound(running.begin(), running.end(), holders_.back());
  const auto next = std::find_if(from, running.end(), [&](const RunningJob& job) {
    const std::vector<Share>& shares = job.allocation->shares;
    return std::any_of(shares.begin(), shares.end(),
                       [&](const Share& share) { return candidates.contains(share.node); });
  });
  has_all_ = next == running.end();
  if (has_all_) return nullptr;
  holders_.push_back(*next);
  return &holders_.back();
}

void FutureFits::clear() {
  holders_.clear();
  has_all_ = false;
  known_.clear();
  found_.clear();
  answer_ = {};
  at_once_ = nullptr;
}

/// A room from which jobs leave one after another. They return when it is destroyed.
class FutureRoom {
 public:
  FutureRoom(Room& room, const Question& question, FutureFits& fits)
      : room_(room), question_(question), fits_(fits) {}
  FutureRoom(const FutureRoom&) = delete;
  FutureRoom& operator=(const FutureRoom&) = delete;
  ~FutureRoom() {
    while (gone_ > 0) room_.take(*fits_.holders_[--gone_].allocation);
  }

  /// Returns where the job fits once the first `ended` holders, at least as many as before, have
  /// ended.
  const Fit& after(std::size_t ended) {
    static const Fit kNowhere;
    std::vector<const Fit*>& known = fits_.known_;
    if (known.size() <= ended) known.resize(ended + 1);
    if (known[ended] == nullptr) {
      while (gone_ < ended) room_.give_back(*fits_.holders_[gone_++].allocation);
      Fit fit = find();
      const bool is_nowhere = !fit.allocation && fit.weights.empty();
      known[ended] = is_nowhere ? &kNowhere : &fits_.found_.emplace_front(std::move(fit));
    }
    return *known[ended];
  }
  /// Returns where the job fits now.
  const Fit& at_once() {
    if (fits_.at_once_ == nullptr) fits_.at_once_ = &after(0);
    return *fits_.at_once_;
  }
  /// What will_run() has found.
  auto& answer() const { return fits_.answer_; }
  /// Writes the weights that a test leaves whose last answer was `fit`. Earlier answers left lower
  /// weights on some of the same nodes, because nodes only become free.
  void leave_weights(const Fit& fit) const {
    if (question_.stale == nullptr) return;
    for (const auto& [node, near] : fit.weights) (*question_.stale)[node] = near;
  }

 private:
  Fit find() const {
    Question question = question_;
    // Jobs with GPUs write weights and read none, so that their answers do not depend on them.
    if (question_.request.gpu_scope != GpuScope::none) question.stale = nullptr;
    Fit fit{.allocation = choose(room_, question)};
    if (question_.stale != nullptr) fit.weights = weights_of_test(room_, question);
    if (fit.allocation) fit.nodes = nodes_of(*fit.allocation, room_.table().size());
    return fit;
  }

  Room& room_;
  const Question& question_;
  FutureFits& fits_;
  std::size_t gone_ = 0;
};

std::optional<PlannedStart> will_run(Room& room, const Question& question, FutureFits& fits,
                                     const RunningJobs& running, Seconds now,
                                     const WillRunSettings& settings) {
  FutureRoom future(room, question, fits);
  if (const Fit& fit = future.at_once(); fit.allocation) {
    future.leave_weights(fit);
    return PlannedStart{now, &fit};
  }
  auto& answer = future.answer();
  if (answer.version != running.all.version()) {
    answer = {.version = running.all.version(), .fit = &future.at_once()};
    Windows windows(running, fits, question.candidates, settings.linear_window);
    while (!answer.fits && windows.next()) {
      answer.last = windows.last();
      answer.fit = &future.after(windows.ended());
      answer.fits = answer.fit->allocation.has_value();
    }
  }
  future.leave_weights(*answer.fit);
  if (!answer.fits) return std::nullopt;
  return PlannedStart{
      answer.last.end > now ? answer.last.end : settings.guess_end(answer.last, now), answer.fit};
}

const Fit& fit_now(Room& room, const Question& question, FutureFits& fits) {
  FutureRoom future(room, question, fits);
  const Fit& fit = future.at_once();
  future.leave_weights(fit);
  return fit;
}

}  // namespace almanac::slurmctld
