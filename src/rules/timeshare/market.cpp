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

/// The logarithm of progress is taken as straight between these fractions of a job.
constexpr std::array<double, 6> kKnots = {0, 0.2, 0.4, 0.6, 0.8, 1};
/// Progress that stands for none, because the logarithm of 0 has no value.
constexpr double kNothing = 1e-6;
/// Least remaining run time of a job, in seconds.
constexpr double kLeastLeft = 1;
/// Error of a sum of rounds, in rounds.
constexpr double kTolerance = 1e-9;
/// Part of the latest estimate in when a job is to end.
constexpr double kLatest = 0.1;
/// Greatest weight of a late job, so that sums stay finite.
constexpr double kMostWeight = 1e250;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The logarithm of progress, in straight pieces.
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

/// Returns the piece that `done`, below 1, lies in.
std::size_t piece_of(double done) {
  std::size_t piece = 0;
  while (piece + 1 < kPieces.slopes.size() && kKnots[piece + 1] <= done) ++piece;
  return piece;
}

double log_of(double done) {
  const double part = std::clamp(done, 0.0, 1.0);
  const std::size_t piece = piece_of(part);
  return kPieces.logs[piece] + kPieces.slopes[piece] * (part - kKnots[piece]);
}

/// Sells rounds for bounds on the longest remaining run time, and keeps the best answer.
///
/// With a lower bound, buyers must have more rounds, so the worth of what the others can buy falls
/// and the longest remaining run time gets shorter.
class Market {
 public:
  Market(const Window& window, const std::vector<Buyer>& buyers)
      : window_(window), buyers_(buyers) {
    const double scale = 1 / (static_cast<double>(buyers.size()) * window.rounds);
    jobs_.reserve(buyers.size());
    offers_.reserve(3 * buyers.size());
    for (const Buyer& buyer : buyers) {
      jobs_.push_back(
          {.most = static_cast<int>(
               std::clamp(std::ceil(buyer.left_s / window.round_s), 1.0, 1.0 * window.rounds)),
           .step = (1 - buyer.done) * window.round_s / std::max(buyer.left_s, kLeastLeft),
           .weight = buyer.weight * scale,
           .before = 0});
      add_offers(static_cast<std::uint32_t>(jobs_.size() - 1));
    }
    std::sort(offers_.begin(), offers_.end(), [](const Offer& one, const Offer& other) {
      if (one.for_a_gpu != other.for_a_gpu) return one.for_a_gpu > other.for_a_gpu;
      return one.job != other.job ? one.job < other.job : one.from < other.from;
    });
  }

  /// Returns the rounds of each buyer, or nothing if there are too few GPUs for what they must
  /// have. Halves the bounds again and again, and leaves a part out if no answer in it can be
  /// better than the best one yet.
  std::vector<int> best() {
    Answer best;
    if (!sell(kInfinity, best)) return {};
    // What jobs gain counts from here: the same progress counts nothing, however much it is worth.
    for (std::size_t at = 0; at < jobs_.size(); ++at)
      jobs_[at].before = log_after(at, best.rounds[at]);
    sell(kInfinity, best);
    const std::vector<double> bounds_s = bounds_below(best.longest_s);
    struct Part {
      std::size_t from;
      std::size_t until;
      double most;  // total worth of rounds within the greatest of these bounds, or more
    };
    std::vector<Part> parts{{0, bounds_s.size(), best.most}};
    Answer answer;
    while (!parts.empty()) {
      const Part part = parts.back();
      parts.pop_back();
      if (part.from == part.until) continue;
      if (part.most - window_.makespan_worth * bounds_s[part.from] <= best.worth) continue;
      const std::size_t middle = part.from + (part.until - part.from) / 2;
      parts.push_back({middle + 1, part.until, part.most});
      if (!sell(bounds_s[middle], answer)) continue;
      parts.push_back({part.from, middle, answer.most});
      if (answer.worth > best.worth) std::swap(answer, best);
    }
    return std::move(best.rounds);
  }

 private:
  struct Job {
    int most;       // rounds that it can use
    double step;    // progress of a round
    double weight;  // relative to the mean over all jobs and rounds
    double before;  // logarithm of the progress from which gains count
  };

  /// Rounds of a job in a row that are worth the same: those after the first `from`, up to `until`.
  struct Offer {
    double for_a_gpu;
    std::uint32_t job;
    int from;
    int until;
  };

  struct Answer {
    std::vector<int> rounds;
    double longest_s = 0;
    double worth = -kInfinity;
    double most = 0;  // total worth of rounds of any answer within the same bound, or more
  };

  /// Adds the offers of a job, none of which is worth more than the one before. A round within one
  /// piece of the logarithm is worth exactly as much as the next: if rounding decided, a later
  /// round could come first, and would not be sold at all.
  void add_offers(std::uint32_t at) {
    const Job& job = jobs_[at];
    const double done = buyers_[at].done;
    double least = kInfinity;
    for (int from = 0; from < job.most;) {
      const double now = done + from * job.step;
      const double rounded_up = now + kTolerance * job.step;
      const std::size_t piece = piece_of(rounded_up);
      double gain = 0;
      double count = job.most - from;
      if (rounded_up < 1) {
        count = std::min(count, std::floor((kKnots[piece + 1] - now) / job.step + kTolerance));
        gain = count >= 1 ? kPieces.slopes[piece] * job.step : log_of(now + job.step) - log_of(now);
      }
      const int until = from + std::max(1, static_cast<int>(count));
      least = std::clamp(gain * job.weight / buyers_[at].gpus, 0.0, least);
      offers_.push_back({least, at, from, until});
      from = until;
    }
  }

  /// Returns the bounds below `most_s` that change what jobs must have, in rising order, without
  /// most of those for which there are too few GPUs.
  std::vector<double> bounds_below(double most_s) const {
    // No bound shortens the longest job by more than the rounds that it can use.
    double least_s = -kInfinity;
    for (std::size_t at = 0; at < jobs_.size(); ++at)
      least_s = std::max(least_s, left_after(at, jobs_[at].most));
    double low_s = least_s;
    for (double enough_s = most_s; enough_s - low_s > window_.round_s;) {
      const double middle_s = low_s + (enough_s - low_s) / 2;
      (gpus_within(middle_s) < 0 ? low_s : enough_s) = middle_s;
    }
    std::vector<double> bounds_s;
    for (std::size_t at = 0; at < jobs_.size(); ++at) {
      for (int rounds = 0; rounds <= jobs_[at].most; ++rounds) {
        const double left_s = left_after(at, rounds);
        if (left_s < low_s) break;
        if (left_s < most_s) bounds_s.push_back(left_s);
      }
    }
    std::sort(bounds_s.begin(), bounds_s.end());
    return bounds_s;
  }

  double left_after(std::size_t at, int rounds) const {
    return buyers_[at].left_s - rounds * window_.round_s;
  }

  double log_after(std::size_t at, int rounds) const {
    return log_of(buyers_[at].done + rounds * jobs_[at].step);
  }

  /// Returns the rounds that a job must have so that no more than `bound_s` is left of it, or all
  /// that it can use.
  int must_have(std::size_t at, double bound_s) const {
    const Buyer& buyer = buyers_[at];
    const double needed_s = std::max(buyer.least_s, buyer.left_s - bound_s);
    if (needed_s <= 0) return 0;
    const double needed = std::ceil(needed_s / window_.round_s - kTolerance);
    return static_cast<int>(std::clamp(needed, 0.0, 1.0 * jobs_[at].most));
  }

  /// Returns the GPUs, times rounds, that are left after what jobs must have within a bound; below
  /// 0 = there are too few.
  double gpus_within(double bound_s) const {
    double gpus = window_.gpus * window_.rounds;
    for (std::size_t at = 0; at < jobs_.size(); ++at)
      gpus -= static_cast<double>(must_have(at, bound_s)) * buyers_[at].gpus;
    return gpus;
  }

  /// Gives jobs what they must have within a bound, and sells the other GPUs to the most valuable
  /// rounds. Returns whether there are enough GPUs.
  bool sell(double bound_s, Answer& answer) const {
    std::vector<int>& rounds = answer.rounds;
    rounds.resize(jobs_.size());
    double gpus = window_.gpus * window_.rounds;
    for (std::size_t at = 0; at < jobs_.size(); ++at) {
      rounds[at] = must_have(at, bound_s);
      gpus -= static_cast<double>(rounds[at]) * buyers_[at].gpus;
    }
    if (gpus < 0) return false;
    auto left = static_cast<std::int64_t>(gpus);
    // What GPUs would be worth that a job of several GPUs cannot use.
    double unused = 0;
    bool is_refused = false;
    for (auto offer = offers_.begin(); offer != offers_.end() && left > 0; ++offer) {
      int& had = rounds[offer->job];
      if (had >= offer->until || had < offer->from) continue;
      const int price = buyers_[offer->job].gpus;
      const auto affordable = left / price;
      const auto sold = std::min<std::int64_t>(offer->until - had, affordable);
      had += static_cast<int>(sold);
      left -= sold * price;
      if (is_refused) unused -= static_cast<double>(sold * price) * offer->for_a_gpu;
      if (had < offer->until && !is_refused) {
        is_refused = true;
        unused = static_cast<double>(left) * offer->for_a_gpu;
      }
    }
    double gain = 0;
    answer.longest_s = 0;
    for (std::size_t at = 0; at < jobs_.size(); ++at) {
      gain += jobs_[at].weight * (log_after(at, rounds[at]) - jobs_[at].before);
      answer.longest_s = std::max(answer.longest_s, left_after(at, rounds[at]));
    }
    answer.worth = gain - window_.makespan_worth * answer.longest_s;
    answer.most = gain + std::max(0.0, unused);
    return true;
  }

  const Window& window_;
  const std::vector<Buyer>& buyers_;
  std::vector<Job> jobs_;
  std::vector<Offer> offers_;  // those worth most for a GPU first
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

/// Claims as buyers, in the order in which rounds are sold.
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
    weights.push_back(std::min(std::pow(std::max(ratio, 1.0), power), kMostWeight));
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
