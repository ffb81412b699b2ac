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

/// The logarithm of what is done, in straight pieces.
struct Pieces {
  std::array<double, kKnots.size()> logs{};
  std::array<double, kKnots.size() - 1> slopes{};
};

const Pieces kPieces = [] {
  Pieces pieces;
  std::transform(kKnots.begin(), kKnots.end(), pieces.logs.begin(),
                 [](double knot) { return std::log(std::max(knot, kNothing)); });
  for (std::size_t knot = 0; knot + 1 < kKnots.size(); ++knot) {
    pieces.slopes[knot] =
        (pieces.logs[knot + 1] - pieces.logs[knot]) / (kKnots[knot + 1] - kKnots[knot]);
  }
  return pieces;
}();

double log_of(double done) {
  const double part = std::clamp(done, 0.0, 1.0);
  std::size_t knot = 0;
  while (knot + 2 < kKnots.size() && kKnots[knot + 1] < part) ++knot;
  return kPieces.logs[knot] + kPieces.slopes[knot] * (part - kKnots[knot]);
}

/// What an offer is worth.
struct Worth {
  double for_a_gpu;
  std::uint32_t offer;
};

/// Whether an offer is worth more than another, or as much and comes first.
constexpr bool is_before(const Worth& one, const Worth& other) {
  return (one.for_a_gpu > other.for_a_gpu) |
         ((one.for_a_gpu == other.for_a_gpu) & (one.offer < other.offer));
}

/// Sorts a part of `worths` that begins at `begin`. Counts for each of a few offers those before
/// it: which comes first cannot be guessed.
void sort_from(std::size_t begin, std::vector<Worth>& worths) {
  constexpr std::size_t kFew = 48;
  const std::size_t count = worths.size() - begin;
  Worth* const from = worths.data() + begin;
  if (count > kFew) return std::sort(from, from + count, is_before);
  std::array<Worth, kFew> unsorted;
  std::array<std::size_t, kFew> places{};
  for (std::size_t at = 0; at < count; ++at) {
    unsorted[at] = from[at];
    for (std::size_t other = 0; other < at; ++other) {
      const bool moves_up = is_before(from[at], from[other]);
      places[other] += moves_up ? 1 : 0;
      places[at] += moves_up ? 0 : 1;
    }
  }
  for (std::size_t at = 0; at < count; ++at) from[places[at]] = unsorted[at];
}

/// Sorts offers that come in runs worth nearly the same: first the runs, then the offers of those
/// that overlap.
std::vector<Worth> sorted_by_worth(const std::vector<Worth>& worths) {
  constexpr double kNearly = 1e-9;
  struct Run {
    double most;
    double least;
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Run> runs;
  for (std::size_t at = 0; at < worths.size(); ++at) {
    const double worth = worths[at].for_a_gpu;
    if (runs.empty() || std::abs(worth - runs.back().most) > kNearly * worth) {
      runs.push_back({worth, worth, at, at + 1});
      continue;
    }
    Run& run = runs.back();
    run.most = std::max(run.most, worth);
    run.least = std::min(run.least, worth);
    run.end = at + 1;
  }
  std::sort(runs.begin(), runs.end(),
            [](const Run& one, const Run& other) { return one.most > other.most; });
  std::vector<Worth> sorted;
  sorted.reserve(worths.size());
  for (auto run = runs.begin(); run != runs.end();) {
    const std::size_t begin = sorted.size();
    double least = run->least;
    for (; run != runs.end() && run->most >= least; ++run) {
      sorted.insert(sorted.end(), worths.begin() + static_cast<std::ptrdiff_t>(run->begin),
                    worths.begin() + static_cast<std::ptrdiff_t>(run->end));
      least = std::min(least, run->least);
    }
    sort_from(begin, sorted);
  }
  return sorted;
}

class Market {
 public:
  Market(const Window& window, const std::vector<Buyer>& buyers)
      : window_(window), buyers_(buyers) {
    const double scale = 1 / (static_cast<double>(buyers.size()) * window.rounds);
    const std::size_t most_offers = buyers.size() * static_cast<std::size_t>(window.rounds);
    std::vector<Worth> worths;
    worths.reserve(most_offers);
    std::vector<Offer> offers;  // in order of buyers
    offers.reserve(most_offers);
    is_before_next_.reserve(most_offers);
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
      first_offer_.push_back(offers.size());
      double before = worth(0);
      for (int round = 1; round <= most_.back(); ++round) {
        const double now = worth(round);
        const double gain = std::max(0.0, now - before);
        const double for_a_gpu = gain / buyer.gpus;
        if (round > 1) is_before_next_.push_back(worths.back().for_a_gpu >= for_a_gpu ? 1 : 0);
        worths.push_back({for_a_gpu, static_cast<std::uint32_t>(offers.size())});
        offers.push_back({static_cast<std::uint32_t>(at), round, buyer.gpus, gain});
        bounds_.push_back(buyer.left_s - round * window.round_s);
        before = now;
      }
      is_before_next_.push_back(1);
      bounds_.push_back(buyer.left_s);
      least_gpus_ = std::min(least_gpus_, buyer.gpus);
    }
    // A job's rounds between two knots are worth the same apart from the last bits, which decide
    // their order: a later one can come before an earlier one.
    offers_.reserve(offers.size());
    for (const Worth& each : sorted_by_worth(worths)) offers_.push_back(offers[each.offer]);
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
      const double worth = best_within(bounds_[at], rounds);
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
    Answer last = best_between(first_possible(from, until), until);
    return last.worth > most ? std::move(last.rounds) : found;
  }

 private:
  struct Offer {
    std::uint32_t buyer;
    std::int32_t round;
    int gpus;
    double gain;
  };

  /// What buyers have, and its worth.
  struct Answer {
    std::vector<int> rounds;
    double worth = -std::numeric_limits<double>::infinity();
  };

  /// Returns the best answer for the sorted bounds from `from` up to `until`, for all of which
  /// there are the GPUs; of equal ones that of the least bound. Goes from the greatest bound down,
  /// and fills only where the answer can change.
  Answer best_between(std::size_t from, std::size_t until) const {
    Answer best;
    if (from == until) return best;
    Answer now;
    std::vector<int> must;
    std::vector<double> least_bounds(buyers_.size());
    double gpus = must_have(bounds_[until - 1], must);
    for (std::size_t at = 0; at < buyers_.size(); ++at)
      least_bounds[at] = least_bound(at, must[at]);
    bool can_change = true;
    for (std::size_t bound = until; bound-- > from;) {
      const double left_s = bounds_[bound];
      for (std::size_t at = 0; at < buyers_.size(); ++at) {
        if (left_s >= least_bounds[at]) continue;
        const int rounds = must_of(at, left_s);
        least_bounds[at] = least_bound(at, rounds);
        if (rounds == must[at]) continue;
        gpus -= static_cast<double>(rounds - must[at]) * buyers_[at].gpus;
        must[at] = rounds;
        can_change = can_change || !is_had_alike(at, rounds, now.rounds);
      }
      if (can_change) {
        now.rounds = must;
        now.worth = fill(gpus, now.rounds);
        if (now.worth >= best.worth) best = now;
        can_change = false;
      }
      // Below 0 all of a job must be had, however far below.
      if (left_s < 0) break;
    }
    return best;
  }

  /// Whether the answer `had` stays the same when a buyer must have `rounds` where it had to have
  /// fewer: it has them in that answer, and its next round comes after them. All that was sold is
  /// sold again then, as the GPUs for it are there, and nothing else, as no more are left.
  bool is_had_alike(std::size_t at, int rounds, const std::vector<int>& had) const {
    return rounds <= had[at] &&
           is_before_next_[first_offer_[at] + static_cast<std::size_t>(rounds) - 1] != 0;
  }

  /// Down to which bound a buyer must have no more than `rounds`, or a little above it.
  double least_bound(std::size_t at, int rounds) const {
    constexpr double kRounding = 1e-12;
    if (rounds == most_[at]) return -std::numeric_limits<double>::infinity();
    const double left_s = buyers_[at].left_s;
    return left_s - rounds * window_.round_s + kRounding * left_s;
  }

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
      rounds[at] = must_of(at, left_s);
      gpus -= static_cast<double>(rounds[at]) * buyers_[at].gpus;
    }
    return gpus;
  }

  /// The rounds that a buyer must have.
  int must_of(std::size_t at, double left_s) const {
    const Buyer& buyer = buyers_[at];
    const double needed_s = std::max(buyer.least_s, buyer.left_s - left_s);
    if (needed_s <= 0) return 0;
    const double needed = std::ceil(needed_s / window_.round_s - kTolerance);
    return static_cast<int>(std::clamp(needed, 0.0, 1.0 * most_[at]));
  }

  /// The most that can be had with no more than `left_s` left of any job that can have so little;
  /// minus infinity = there are not the GPUs for it.
  double best_within(double left_s, std::vector<int>& rounds) const {
    const double gpus = must_have(left_s, rounds);
    return gpus < 0 ? -std::numeric_limits<double>::infinity() : fill(gpus, rounds);
  }

  /// Sells the GPUs that are left to the most valuable rounds, in addition to the `rounds` that
  /// must be had, and returns the worth of all.
  double fill(double gpus, std::vector<int>& rounds) const {
    // Rounds that must be had, and are not counted yet.
    std::int64_t due = std::accumulate(rounds.begin(), rounds.end(), std::int64_t{0});
    auto whole_gpus = static_cast<std::int64_t>(gpus);
    double worth = 0;
    const Offer* next = offers_.data();
    const Offer* const end = next + offers_.size();
    int* const had_by = rounds.data();
    for (const int least_gpus = least_gpus_; next != end && whole_gpus >= least_gpus; ++next) {
      int& had = had_by[next->buyer];
      if (next->round <= had) {
        worth += next->gain;
        --due;
      } else if (next->round == had + 1 && next->gpus <= whole_gpus) {
        worth += next->gain;
        ++had;
        whole_gpus -= next->gpus;
      }
    }
    // Without a branch, which would be a coin's toss for the processor.
    for (; due > 0; ++next) {
      const bool is_had = next->round <= had_by[next->buyer];
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
  std::vector<std::size_t> first_offer_;              // of each buyer, in is_before_next_
  std::vector<std::uint8_t> is_before_next_;  // of each buyer's rounds, in offers_; its last: 1
  std::vector<Offer> offers_;                 // rounds of buyers, those worth most for a GPU first
  std::vector<double> bounds_;                // run times that may be left
};

}  // namespace

std::vector<int> buy_rounds(const Window& window, const std::vector<Buyer>& buyers) {
  return buyers.empty() ? std::vector<int>{} : Market(window, buyers).best();
}

namespace {

/// Returns the buyers that run next, with `left` rounds left of the window, and takes one from the
/// `rounds` of each.
std::vector<std::size_t> deal_round(const Window& window, const std::vector<Buyer>& buyers,
                                    int left, std::vector<int>& rounds) {
  std::vector<std::size_t> chosen;
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
  return chosen;
}

/// Claims as buyers in the order in which rounds are dealt.
struct Bought {
  std::vector<std::size_t> order;  // of the claims
  std::vector<Buyer> buyers;
  std::vector<int> rounds;
};

Bought buy_in_order(const Window& window, const std::vector<Claim>& claims) {
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
  Bought bought{.order = order, .buyers = {}, .rounds = {}};
  for (const std::size_t at : order) {
    bought.buyers.push_back(buyers[at]);
    bought.rounds.push_back(rounds[at]);
  }
  return bought;
}

void name_claims(const std::vector<std::size_t>& order, std::vector<std::size_t>& chosen) {
  for (std::size_t& at : chosen) at = order[at];
}

}  // namespace

std::vector<std::vector<std::size_t>> deal_rounds(const Window& window,
                                                  const std::vector<Buyer>& buyers,
                                                  std::vector<int> rounds) {
  std::vector<std::vector<std::size_t>> dealt;
  for (int left = window.rounds; left > 0; --left) {
    dealt.push_back(deal_round(window, buyers, left, rounds));
  }
  return dealt;
}

std::vector<std::vector<std::size_t>> plan_rounds(const Window& window,
                                                  const std::vector<Claim>& claims) {
  Bought bought = buy_in_order(window, claims);
  auto plan = deal_rounds(window, bought.buyers, std::move(bought.rounds));
  for (std::vector<std::size_t>& chosen : plan) name_claims(bought.order, chosen);
  return plan;
}

std::vector<std::size_t> plan_next_round(const Window& window, const std::vector<Claim>& claims) {
  Bought bought = buy_in_order(window, claims);
  auto chosen = deal_round(window, bought.buyers, window.rounds, bought.rounds);
  name_claims(bought.order, chosen);
  return chosen;
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
