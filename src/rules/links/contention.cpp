// SPDX-License-Identifier: Apache-2.0
#include "rules/links/contention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "rules/links/turns.h"

namespace almanac::links {
namespace {

/// Most steps of a common period; with more, the jobs are as good as drifting.
constexpr std::int64_t kMostCommonSteps = 512;

/// What flows that drift send at a moment.
class Crowd {
 public:
  explicit Crowd(double capacity) : capacity_(capacity), below_{{0, 1}} {}

  void add(double share, double gbps) {
    mean_ += share * gbps;
    std::map<double, double> both;
    for (const auto& [sent, likely] : below_) {
      both[sent] += (1 - share) * likely;
      // What is sent beyond the capacity is in the mean.
      if (sent + gbps < capacity_) both[sent + gbps] += share * likely;
    }
    below_.swap(both);
  }
  /// Returns the mean by which all flows and `gbps` more exceed the capacity.
  double excess(double gbps) const {
    double spare = 0;
    for (const auto& [sent, likely] : below_) {
      if (sent + gbps >= capacity_) break;
      spare += likely * (capacity_ - gbps - sent);
    }
    return std::max(0.0, mean_ + gbps - capacity_ + spare);
  }

 private:
  double capacity_;
  double mean_ = 0;
  std::map<double, double> below_;  // likelihood of each sum below the capacity
};

struct Piece {
  double ms = 0;
  double gbps = 0;
};

std::int64_t whole_ms(const Flow& flow) {
  return std::max<std::int64_t>(1, std::llround(flow.period_ms));
}

class LinkLoad {
 public:
  LinkLoad(std::span<const Flow> flows, double capacity) : flows_(flows), capacity_(capacity) {
    for (std::size_t at = 0; at < flows.size(); ++at) {
      if (flows[at].shift_ms) aligned_.push_back(at);
    }
    if (!find_perimeter()) aligned_.clear();
  }

  std::vector<double> stretches() const {
    Crowd all(capacity_);
    for (std::size_t at = 0; at < flows_.size(); ++at) {
      if (!is_aligned(at)) all.add(share(at), sent_by(at));
    }
    const std::vector<Piece> pieces = sent_together();
    std::vector<double> longer(flows_.size(), 0);
    double together = 0;
    for (const Piece& piece : pieces) {
      if (piece.gbps > 0) together += piece.ms * all.excess(piece.gbps);
    }
    for (const std::size_t at : aligned_) {
      longer[at] = together / static_cast<double>(perimeter_) / capacity_;
    }
    for (std::size_t at = 0; at < flows_.size(); ++at) {
      if (!is_aligned(at)) longer[at] = share(at) * beside(at, pieces) / capacity_;
    }
    return filled(longer);
  }

  /// What the flows with shifts lose, as a part of time.
  double loss() const {
    double beyond = 0;
    for (const Piece& piece : sent_together()) {
      beyond += piece.ms * std::max(0.0, piece.gbps - capacity_);
    }
    return beyond / static_cast<double>(perimeter_) / capacity_;
  }
  bool has_common_period() const { return !aligned_.empty(); }
  std::int64_t perimeter_ms() const { return perimeter_; }

 private:
  bool is_aligned(std::size_t at) const {
    return std::find(aligned_.begin(), aligned_.end(), at) != aligned_.end();
  }
  double share(std::size_t at) const { return flows_[at].sends_ms / flows_[at].period_ms; }
  double sent_by(std::size_t at) const { return flows_[at].gbps > 0 ? flows_[at].gbps : capacity_; }

  bool find_perimeter() {
    for (const std::size_t at : aligned_) {
      const std::int64_t period = whole_ms(flows_[at]);
      perimeter_ = std::lcm(perimeter_, period);
      if (perimeter_ / period > kMostCommonSteps) return false;
    }
    std::int64_t steps = 0;
    for (const std::size_t at : aligned_) steps += perimeter_ / whole_ms(flows_[at]);
    return steps <= kMostCommonSteps;
  }

  /// Over a common period, in order.
  std::vector<Piece> sent_together() const {
    if (aligned_.empty()) return {{.ms = 1}};
    const auto end = static_cast<double>(perimeter_);
    std::vector<std::pair<double, double>> edges;
    double now_gbps = 0;
    for (const std::size_t at : aligned_) {
      const auto period = static_cast<double>(whole_ms(flows_[at]));
      const double length = std::min(flows_[at].sends_ms, period);
      for (std::int64_t step = 0; step < perimeter_ / whole_ms(flows_[at]); ++step) {
        const double until =
            std::fmod(period * static_cast<double>(step + 1) + *flows_[at].shift_ms, end);
        const double from = until - length;
        edges.emplace_back(until, -sent_by(at));
        edges.emplace_back(from < 0 ? from + end : from, sent_by(at));
        if (from < 0) now_gbps += sent_by(at);
      }
    }
    std::sort(edges.begin(), edges.end());
    std::vector<Piece> pieces;
    double now = 0;
    for (const auto& [at, change] : edges) {
      if (at > now) pieces.push_back({.ms = at - now, .gbps = now_gbps});
      now = at;
      now_gbps += change;
      if (std::abs(now_gbps) < 1e-9 * capacity_) now_gbps = 0;
    }
    if (end > now) pieces.push_back({.ms = end - now, .gbps = now_gbps});
    return pieces;
  }

  /// What is sent beyond the capacity while a flow that drifts sends, on the mean.
  double beside(std::size_t mine, const std::vector<Piece>& pieces) const {
    Crowd others(capacity_);
    for (std::size_t at = 0; at < flows_.size(); ++at) {
      if (at != mine && !is_aligned(at)) others.add(share(at), sent_by(at));
    }
    double beyond = 0;
    double all_ms = 0;
    for (const Piece& piece : pieces) {
      beyond += piece.ms * others.excess(sent_by(mine) + piece.gbps);
      all_ms += piece.ms;
    }
    return beyond / all_ms;
  }

  /// Factors, with transfers made longer until no more is sent than the link carries.
  std::vector<double> filled(const std::vector<double>& longer) const {
    const auto factor = [&](std::size_t at, double more) {
      return 1 + longer[at] + (more - 1) * (share(at) + longer[at]);
    };
    const auto sent = [&](double more) {
      double sum = 0;
      for (std::size_t at = 0; at < flows_.size(); ++at) {
        sum += share(at) * sent_by(at) / factor(at, more);
      }
      return sum;
    };
    double more = 1;
    // A part in 10^9 too much is rounding.
    if (sent(1) > capacity_ * (1 + 1e-9)) {
      double low = 1;
      double high = 2;
      while (sent(high) > capacity_) high *= 2;
      constexpr int kHalvings = 60;
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (low + high) / 2;
        (sent(middle) > capacity_ ? low : high) = middle;
      }
      more = high;
    }
    std::vector<double> made;
    for (std::size_t at = 0; at < flows_.size(); ++at) made.push_back(factor(at, more));
    return made;
  }

  std::span<const Flow> flows_;
  double capacity_;
  std::vector<std::size_t> aligned_;
  std::int64_t perimeter_ = 1;
};

/// Returns the shifts with which a transfer of the flow begins or ends together with one of
/// another.
std::vector<double> meetings(std::span<const Flow> flows, std::size_t mine,
                             std::int64_t perimeter_ms) {
  const Flow& own = flows[mine];
  const auto period = static_cast<double>(whole_ms(own));
  std::vector<double> shifts{0};
  for (std::size_t at = 0; at < flows.size(); ++at) {
    if (at == mine || !flows[at].shift_ms) continue;
    const std::int64_t each = whole_ms(flows[at]);
    for (std::int64_t step = 0; step < perimeter_ms / each; ++step) {
      const double until = static_cast<double>(each * (step + 1)) + *flows[at].shift_ms;
      for (const double edge : {until, until - flows[at].sends_ms}) {
        for (const double shift : {edge - period, edge - period + own.sends_ms}) {
          shifts.push_back(std::fmod(std::fmod(shift, period) + period, period));
        }
      }
    }
  }
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  return shifts;
}

/// Returns how much longer the steps of flows with priorities are, as the mean over `kStarts`
/// relative starts.
std::vector<double> by_priority(std::span<const Flow> flows, double capacity_gbps) {
  constexpr int kStarts = 11;
  constexpr int kSteps = 32;
  std::vector<Flow> shifted(flows.begin(), flows.end());
  std::vector<double> means(flows.size(), 0);
  for (int start = 0; start < kStarts; ++start) {
    const double later = (start + 0.5) / kStarts;  // of a period, than the flow before
    for (std::size_t at = 0; at < flows.size(); ++at) {
      const double turns = later * static_cast<double>(at);
      shifted[at].shift_ms = (turns - std::floor(turns)) * flows[at].period_ms;
    }
    const auto played = played_stretches(shifted, capacity_gbps, false, kSteps);
    for (std::size_t at = 0; at < flows.size(); ++at) means[at] += played[at] / kStarts;
  }
  return means;
}

}  // namespace

std::vector<double> stretches(std::span<const Flow> flows, double capacity_gbps) {
  const bool by_rank = std::any_of(flows.begin(), flows.end(), [&](const Flow& flow) {
    return flow.priority != flows.front().priority;
  });
  if (by_rank) return by_priority(flows, capacity_gbps);
  const bool in_turn =
      flows.size() > 1 &&
      std::all_of(flows.begin(), flows.end(), [](const Flow& flow) { return flow.in_turn; });
  if (in_turn) return played_stretches(flows, capacity_gbps, true);
  return LinkLoad(flows, capacity_gbps).stretches();
}

std::vector<std::optional<double>> best_shifts(std::span<const Flow> flows, double capacity_gbps) {
  std::vector<Flow> made(flows.begin(), flows.end());
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < flows.size(); ++at) {
    if (!flows[at].shift_ms) open.push_back(at);
  }
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    return flows[a].sends_ms > flows[b].sends_ms;
  });
  const auto shift_best = [&](std::size_t mine) {
    made[mine].shift_ms = 0;
    const LinkLoad link(made, capacity_gbps);
    if (!link.has_common_period()) {
      made[mine].shift_ms.reset();
      return;
    }
    double least = -1;
    double best = 0;
    for (const double shift : meetings(made, mine, link.perimeter_ms())) {
      made[mine].shift_ms = shift;
      const double loss = LinkLoad(made, capacity_gbps).loss();
      if (least >= 0 && loss >= least - 1e-12) continue;
      least = loss;
      best = shift;
      if (loss <= 0) break;
    }
    made[mine].shift_ms = best;
  };
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t mine : open) {
      if (round > 0 && (open.size() < 2 || !made[mine].shift_ms)) continue;
      shift_best(mine);
    }
  }
  std::vector<std::optional<double>> shifts;
  for (const Flow& flow : made) shifts.push_back(flow.shift_ms);
  return shifts;
}

std::optional<double> best_common_shift(std::vector<SharedLink> links) {
  std::vector<double> shifts{0};
  for (SharedLink& link : links) {
    link.flows.front().shift_ms = 0;
    const LinkLoad load(link.flows, link.capacity_gbps);
    if (!load.has_common_period()) return std::nullopt;
    const std::vector<double> more = meetings(link.flows, 0, load.perimeter_ms());
    shifts.insert(shifts.end(), more.begin(), more.end());
  }
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  double least = std::numeric_limits<double>::infinity();
  double best = 0;
  for (const double shift : shifts) {
    double loss = 0;
    for (SharedLink& link : links) {
      link.flows.front().shift_ms = shift;
      loss += lost(link.flows, link.capacity_gbps);
      if (loss >= least - 1e-12) break;
    }
    if (loss >= least - 1e-12) continue;
    least = loss;
    best = shift;
    if (loss <= 0) break;
  }
  return best;
}

double lost(std::span<const Flow> flows, double capacity_gbps) {
  return LinkLoad(flows, capacity_gbps).loss();
}

}  // namespace almanac::links
