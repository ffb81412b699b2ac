// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/market.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace almanac::timeshare {
namespace {

/// Between these parts of a job the logarithm of what is done is taken as straight.
constexpr std::array<double, 6> kKnots = {0, 0.2, 0.4, 0.6, 0.8, 1};
/// What nothing done counts as: its logarithm has no value.
constexpr double kNothing = 1e-6;
/// Seconds that a job has left at least.
constexpr double kLeastLeft = 1;
/// Of a round, that a sum may be off by.
constexpr double kTolerance = 1e-9;
/// So few bounds are all looked at.
constexpr std::size_t kAll = 64;
/// The last estimate's part of when a job is to end.
constexpr double kLatest = 0.1;

double log_of(double done) {
  static const std::array<double, kKnots.size()> kLogs = [] {
    std::array<double, kKnots.size()> logs{};
    std::transform(kKnots.begin(), kKnots.end(), logs.begin(),
                   [](double knot) { return std::log(std::max(knot, kNothing)); });
    return logs;
  }();
  const double part = std::clamp(done, 0.0, 1.0);
  std::size_t knot = 0;
  while (knot + 2 < kKnots.size() && kKnots[knot + 1] < part) ++knot;
  const double slope = (kLogs[knot + 1] - kLogs[knot]) / (kKnots[knot + 1] - kKnots[knot]);
  return kLogs[knot] + slope * (part - kKnots[knot]);
}

class Market {
 public:
  Market(const Window& window, const std::vector<Buyer>& buyers)
      : window_(window), buyers_(buyers) {
    const double scale = 1 / (static_cast<double>(buyers.size()) * window.rounds);
    struct Worth {
      double for_a_gpu;
      std::uint32_t offer;
    };
    const std::size_t most_offers = buyers.size() * static_cast<std::size_t>(window.rounds);
    std::vector<Worth> by_worth;
    by_worth.reserve(most_offers);
    std::vector<Offer> offers;  // in order of buyers
    offers.reserve(most_offers);
    bounds_.reserve(most_offers + buyers.size());
    for (std::size_t at = 0; at < buyers.size(); ++at) {
      const Buyer& buyer = buyers[at];
      most_.push_back(static_cast<int>(
          std::clamp(std::ceil(buyer.left_s / window.round_s), 1.0, 1.0 * window.rounds)));
      const double done_a_round =
          (1 - buyer.done) * window.round_s / std::max(buyer.left_s, kLeastLeft);
      const auto worth = [&](int rounds) {
        return log_of(buyer.done + rounds * done_a_round) * buyer.weight * scale;
      };
      double before = worth(0);
      for (int round = 1; round <= most_.back(); ++round) {
        const double now = worth(round);
        const double gain = std::max(0.0, now - before);
        by_worth.push_back({gain / buyer.gpus, static_cast<std::uint32_t>(offers.size())});
        offers.push_back({static_cast<std::uint32_t>(at), round, buyer.gpus, gain});
        bounds_.push_back(buyer.left_s - round * window.round_s);
        before = now;
      }
      bounds_.push_back(buyer.left_s);
      least_gpus_ = std::min(least_gpus_, buyer.gpus);
    }
    // A job's first rounds are worth no less than its later ones, and stay before them.
    std::sort(by_worth.begin(), by_worth.end(), [](const Worth& one, const Worth& other) {
      return one.for_a_gpu != other.for_a_gpu ? one.for_a_gpu > other.for_a_gpu
                                              : one.offer < other.offer;
    });
    offers_.reserve(offers.size());
    for (const Worth& each : by_worth) offers_.push_back(offers[each.offer]);
  }

  /// The worth of the best answer falls towards both ends of the bounds of the remaining run time,
  /// except for effects of whole rounds.
  std::vector<int> best() {
    std::vector<int> rounds;
    std::vector<int> found;
    std::size_t from = 0;
    std::size_t until = bounds_.size();
    double most = -std::numeric_limits<double>::infinity();
    const auto look = [&](std::size_t at) {
      const double worth = fill(bounds_[at], rounds);
      if (worth > most) {
        most = worth;
        found = rounds;
      }
      return worth;
    };
    // Bounds before `from` are no greater than those from there on, and those no greater than the
    // ones from `until` on: of the others only those looked at need their place in the order.
    const auto put_in_place = [&](std::size_t after, std::size_t at) {
      const auto begin = bounds_.begin();
      std::nth_element(begin + static_cast<std::ptrdiff_t>(after),
                       begin + static_cast<std::ptrdiff_t>(at),
                       begin + static_cast<std::ptrdiff_t>(until));
    };
    while (until - from > kAll) {
      const std::size_t third = (until - from) / 3;
      put_in_place(from, from + third);
      put_in_place(from + third + 1, until - third);
      const double lower = look(from + third);
      if (lower < look(until - third) || std::isinf(lower)) {
        from += third;
      } else {
        until -= third;
      }
    }
    std::sort(bounds_.begin() + static_cast<std::ptrdiff_t>(from),
              bounds_.begin() + static_cast<std::ptrdiff_t>(until));
    for (from = first_possible(from, until); from < until; ++from) {
      // Below 0 all of a job must be had, however far below.
      const bool is_last_alike = from + 1 == until || bounds_[from + 1] >= 0;
      if (bounds_[from] >= 0 || is_last_alike) look(from);
    }
    return found;
  }

 private:
  struct Offer {
    std::uint32_t buyer;
    std::int32_t round;
    int gpus;
    double gain;
  };

  /// The first bound from `from` on for which there are the GPUs: the less may be left, the more
  /// they are that must be had.
  std::size_t first_possible(std::size_t from, std::size_t until) const {
    std::vector<int> rounds;
    while (from < until) {
      const std::size_t middle = from + (until - from) / 2;
      if (must_have(bounds_[middle], rounds) < 0) {
        from = middle + 1;
      } else {
        until = middle;
      }
    }
    return from;
  }

  /// Sets the rounds that buyers must have so that no more than `left_s` is left of any that can
  /// have so little, and returns the GPUs, times rounds, that are left then; below 0 = there are
  /// not as many.
  double must_have(double left_s, std::vector<int>& rounds) const {
    rounds.assign(buyers_.size(), 0);
    double gpus = window_.gpus * window_.rounds;
    for (std::size_t at = 0; at < buyers_.size(); ++at) {
      const Buyer& buyer = buyers_[at];
      const double needed_s = std::max(buyer.least_s, buyer.left_s - left_s);
      if (needed_s <= 0) continue;
      const double needed = std::ceil(needed_s / window_.round_s - kTolerance);
      rounds[at] = static_cast<int>(std::clamp(needed, 0.0, 1.0 * most_[at]));
      gpus -= static_cast<double>(rounds[at]) * buyer.gpus;
    }
    return gpus;
  }

  /// The most that can be had with no more than `left_s` left of any job that can have so little;
  /// minus infinity = there are not the GPUs for it.
  double fill(double left_s, std::vector<int>& rounds) const {
    double gpus = must_have(left_s, rounds);
    if (gpus < 0) return -std::numeric_limits<double>::infinity();
    // Rounds that must be had, and are not counted yet.
    std::int64_t due = std::accumulate(rounds.begin(), rounds.end(), std::int64_t{0});
    double worth = 0;
    auto next = offers_.begin();
    for (; next != offers_.end() && gpus >= least_gpus_; ++next) {
      const Offer& offer = *next;
      int& had = rounds[offer.buyer];
      if (offer.round <= had) {
        worth += offer.gain;
        --due;
      } else if (offer.round == had + 1 && offer.gpus <= gpus) {
        worth += offer.gain;
        ++had;
        gpus -= offer.gpus;
      }
    }
    // Without a branch, which would be a coin's toss for the processor.
    for (; due > 0; ++next) {
      const bool is_had = next->round <= rounds[next->buyer];
      worth += is_had * next->gain;
      due -= is_had;
    }
    double longest_s = 0;
    for (std::size_t at = 0; at < buyers_.size(); ++at) {
      longest_s = std::max(longest_s, buyers_[at].left_s - rounds[at] * window_.round_s);
    }
    return worth - window_.makespan_worth * longest_s;
  }

  const Window& window_;
  const std::vector<Buyer>& buyers_;
  std::vector<int> most_;
  int least_gpus_ = std::numeric_limits<int>::max();  // of a buyer
  std::vector<Offer> offers_;   // rounds of buyers, those worth most for a GPU first
  std::vector<double> bounds_;  // run times that may be left
};

}  // namespace

std::vector<int> buy_rounds(const Window& window, const std::vector<Buyer>& buyers) {
  return buyers.empty() ? std::vector<int>{} : Market(window, buyers).best();
}

std::vector<std::vector<std::size_t>> deal_rounds(const Window& window,
                                                  const std::vector<Buyer>& buyers,
                                                  std::vector<int> rounds) {
  std::vector<std::vector<std::size_t>> dealt;
  for (int left = window.rounds; left > 0; --left) {
    std::vector<std::size_t>& chosen = dealt.emplace_back();
    double gpus = window.gpus;
    for (const bool urgent : {true, false}) {
      for (std::size_t at = 0; at < buyers.size(); ++at) {
        const bool is_urgent = rounds[at] >= left;
        if (rounds[at] <= 0 || is_urgent != urgent || buyers[at].gpus > gpus) continue;
        chosen.push_back(at);
        gpus -= buyers[at].gpus;
      }
    }
    for (const std::size_t at : chosen) --rounds[at];
  }
  return dealt;
}

std::vector<std::vector<std::size_t>> plan_rounds(const Window& window,
                                                  const std::vector<Claim>& claims) {
  const double length_s = window.rounds * window.round_s;
  const double part = std::min(1.0, window.gpus / static_cast<double>(claims.size()));
  std::vector<Buyer> buyers;
  std::vector<double> weights;
  bool in_time = true;
  for (const Claim& claim : claims) {
    // What is left at the end of the window, on a part of its own, ends in time.
    const double may_be_left_s = (claim.fair_jct_s - claim.age_s - length_s) * part;
    buyers.push_back({.gpus = claim.gpus,
                      .done = claim.done,
                      .left_s = claim.left_s,
                      .least_s = std::max(0.0, claim.left_s - may_be_left_s)});
    in_time = in_time && may_be_left_s >= 0 && buyers.back().least_s <= length_s;
    const double ratio = (claim.age_s + claim.left_s) / claim.fair_jct_s;
    const double power = claim.left_s < window.round_s ? window.last_power : window.power;
    weights.push_back(std::pow(std::max(ratio, 1.0), power));
  }
  std::vector<int> rounds;
  if (in_time) rounds = buy_rounds(window, buyers);
  if (rounds.empty()) {
    for (std::size_t at = 0; at < buyers.size(); ++at) {
      buyers[at].least_s = 0;
      buyers[at].weight = weights[at];
    }
    rounds = buy_rounds(window, buyers);
  }
  // So that the sum of weight x mean round is least: a job with few rounds has most of a sooner
  // one.
  std::vector<double> urgency;
  for (std::size_t at = 0; at < buyers.size(); ++at) {
    urgency.push_back(buyers[at].weight / (buyers[at].gpus * std::max(rounds[at], 1)));
  }
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    if (urgency[one] != urgency[other]) return urgency[one] > urgency[other];
    return buyers[one].left_s < buyers[other].left_s;
  });
  std::vector<Buyer> ordered;
  std::vector<int> ordered_rounds;
  for (const std::size_t at : order) {
    ordered.push_back(buyers[at]);
    ordered_rounds.push_back(rounds[at]);
  }
  auto plan = deal_rounds(window, ordered, std::move(ordered_rounds));
  for (std::vector<std::size_t>& chosen : plan) {
    for (std::size_t& at : chosen) at = order[at];
  }
  return plan;
}

void FairEnd::estimate(double end_s, double now_s) {
  if (latest_s_ > 0) {
    sum_ += latest_s_ * (now_s - since_s_);
    time_s_ += now_s - since_s_;
  }
  latest_s_ = end_s;
  since_s_ = now_s;
}

double FairEnd::at(double now_s) const {
  const double lasted_s = now_s - since_s_;
  const double time_s = time_s_ + lasted_s;
  const double mean_s = time_s > 0 ? (sum_ + latest_s_ * lasted_s) / time_s : latest_s_;
  return (1 - kLatest) * mean_s + kLatest * latest_s_;
}

}  // namespace almanac::timeshare
