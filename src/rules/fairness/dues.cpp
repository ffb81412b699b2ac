// SPDX-License-Identifier: Apache-2.0
#include "rules/fairness/dues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "rules/fairness/shares.h"

namespace almanac::fairness {
namespace {

constexpr double kUnfair = 1.05;    // Shockwave (NSDI'23) calls jobs above this unfair
constexpr double kShortest_s = 10;  // as for slowdowns: shorter jobs count as so long
constexpr std::size_t kCells = 1U << 20U;
constexpr std::size_t kMostSpans = 1024;
constexpr std::size_t kLeastSpans = 64;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// A rate over time, by its mean in each span.
class Curve {
 public:
  explicit Curve(std::size_t spans) : inside_(spans, 0.0F), change_(spans + 1, 0.0F) {}

  /// `from` and `until` in spans from the beginning.
  void add(double rate, double from, double until) {
    const double last = static_cast<double>(inside_.size());
    from = std::clamp(from, 0.0, last);
    until = std::clamp(until, from, last);
    const auto first = std::min(static_cast<std::size_t>(from), inside_.size() - 1);
    const auto end = std::min(static_cast<std::size_t>(until), inside_.size() - 1);
    if (first == end) {
      inside_[first] += static_cast<float>(rate * (until - from));
      return;
    }
    inside_[first] += static_cast<float>(rate * (static_cast<double>(first + 1) - from));
    inside_[end] += static_cast<float>(rate * (until - static_cast<double>(end)));
    change_[first + 1] += static_cast<float>(rate);
    change_[end] -= static_cast<float>(rate);
  }
  /// To be called once, after the last add().
  void sum_up() {
    double whole = 0;
    for (std::size_t span = 0; span < inside_.size(); ++span) {
      whole += change_[span];
      inside_[span] += static_cast<float>(whole);
    }
  }
  double at(std::size_t span) const { return std::max(0.0F, inside_[span]); }

 private:
  std::vector<float> inside_;
  std::vector<float> change_;
};

class Judge {
 public:
  Judge(std::span<const Claimant> owners, std::span<const Stay> stays, double length_s, double gpus,
        bool by_tenant)
      : stays_(stays), length_s_(length_s), gpus_(gpus) {
    made_.by_tenant = by_tenant;
    for (const Claimant& each : owners) {
      made_.owners.push_back({.name = each.name});
      weights_.push_back(each.weight);
    }
    for (const Stay& stay : stays) ++made_.owners[stay.owner].jobs;
  }

  Dues judge() {
    if (made_.owners.empty() || length_s_ <= 0) return {};
    const std::size_t spans = std::clamp(kCells / made_.owners.size(), kLeastSpans, kMostSpans);
    span_s_ = length_s_ / static_cast<double>(spans);
    spread(spans);
    for (std::size_t span = 0; span < spans; ++span) divide(span);
    rate_jobs();
    conclude();
    return std::move(made_);
  }

 private:
  void spread(std::size_t spans) {
    asked_.assign(made_.owners.size(), Curve(spans));
    had_.assign(made_.owners.size(), Curve(spans));
    Curve active(spans);
    for (const Stay& stay : stays_) {
      const double until = stay.end_s / span_s_;
      const double from = stay.submit_s / span_s_;
      active.add(1, from, until);
      asked_[stay.owner].add(stay.gpus, from, until);
      if (std::isnan(stay.start_s)) continue;
      const double started = stay.start_s / span_s_;
      const double ran = stay.ran_s / span_s_;
      if (until > started)
        had_[stay.owner].add(stay.gpus * ran / (until - started), started, until);
    }
    for (std::size_t owner = 0; owner < made_.owners.size(); ++owner) {
      asked_[owner].sum_up();
      had_[owner].sum_up();
    }
    active.sum_up();
    active_until_.assign(spans + 1, 0.0);
    for (std::size_t span = 0; span < spans; ++span) {
      active_until_[span + 1] = active_until_[span] + active.at(span);
    }
  }

  /// Computes for a span the fair share of each owner and the loans between them.
  void divide(std::size_t span) {
    const std::size_t owners = made_.owners.size();
    std::vector<double> asked(owners);
    for (std::size_t owner = 0; owner < owners; ++owner) asked[owner] = asked_[owner].at(span);
    const std::vector<double> due = fair_parts(asked, weights_, gpus_);
    const double weight = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    std::vector<double> left(owners);
    std::vector<double> beyond(owners);
    double all_left = 0;
    double all_beyond = 0;
    for (std::size_t owner = 0; owner < owners; ++owner) {
      const double had = had_[owner].at(span);
      made_.owners[owner].used_gpu_s += had * span_s_;
      made_.owners[owner].fair_share_gpu_s += due[owner] * span_s_;
      const double part =
          weight > 0 ? gpus_ * weights_[owner] / weight : gpus_ / static_cast<double>(owners);
      left[owner] = std::max(0.0, part - std::max(had, asked[owner]));
      beyond[owner] = std::max(0.0, had - part);
      all_left += left[owner];
      all_beyond += beyond[owner];
    }
    if (all_beyond <= 0 || all_left <= 0) return;
    const double lent_part = std::min(1.0, all_beyond / all_left) * span_s_;
    for (std::size_t from = 0; from < owners; ++from) {
      made_.owners[from].lent_gpu_s += left[from] * lent_part;
      made_.owners[from].borrowed_gpu_s += beyond[from] * span_s_;
      if (!made_.by_tenant || left[from] <= 0) continue;
      for (std::size_t to = 0; to < owners; ++to) {
        if (beyond[to] > 0) loans_[{from, to}] += left[from] * lent_part * beyond[to] / all_beyond;
      }
    }
  }

  /// Integral of how many jobs there were, up to a point in spans.
  double active_until(double at) const {
    const double last = static_cast<double>(active_until_.size() - 1);
    const double within = std::clamp(at, 0.0, last);
    const auto span = std::min(static_cast<std::size_t>(within), active_until_.size() - 2);
    const double part = within - static_cast<double>(span);
    return active_until_[span] + part * (active_until_[span + 1] - active_until_[span]);
  }

  void rate_jobs() {
    std::vector<double> sums(made_.owners.size(), 0.0);
    std::vector<double> counts(made_.owners.size(), 0.0);
    double unfair = 0;
    for (const Stay& stay : stays_) {
      if (std::isnan(stay.alone_s)) continue;
      const double from = std::max(0.0, stay.submit_s / span_s_);
      const double until = stay.end_s / span_s_;
      if (until <= from) continue;
      const double jobs = (active_until(until) - active_until(from)) / (until - from);
      const double ratio = finish_time_ratio(std::max(kShortest_s, stay.end_s - stay.submit_s),
                                             std::max(kShortest_s, stay.alone_s), jobs, gpus_);
      sums[stay.owner] += ratio;
      ++counts[stay.owner];
      unfair += ratio > kUnfair ? 1 : 0;
    }
    double sum = 0;
    double count = 0;
    for (std::size_t owner = 0; owner < sums.size(); ++owner) {
      made_.owners[owner].finish_ratio = counts[owner] > 0 ? sums[owner] / counts[owner] : kNothing;
      sum += sums[owner];
      count += counts[owner];
    }
    made_.finish_ratio = count > 0 ? sum / count : kNothing;
    made_.unfair_jobs = count > 0 ? unfair / count : kNothing;
  }

  void conclude() {
    std::vector<Holding> holdings;
    for (const Owner& owner : made_.owners) {
      holdings.push_back({.had = owner.used_gpu_s, .due = owner.fair_share_gpu_s});
    }
    const Judgement judgement = almanac::fairness::judge(holdings);
    made_.share_error = judgement.share_error;
    made_.jain = judgement.jain;
    made_.worst = std::min(judgement.worst, made_.owners.size() - 1);
    const Owner& worst = made_.owners[made_.worst];
    made_.worst_part = worst.fair_share_gpu_s > 0 ? worst.used_gpu_s / worst.fair_share_gpu_s : 1;
    for (const auto& [pair, gpu_s] : loans_)
      made_.loans.push_back({pair.first, pair.second, gpu_s});
    std::stable_sort(made_.loans.begin(), made_.loans.end(),
                     [](const Loan& a, const Loan& b) { return a.gpu_s > b.gpu_s; });
  }

  std::span<const Stay> stays_;
  double length_s_;
  double gpus_;
  double span_s_ = 0;
  Dues made_;
  std::vector<double> weights_;
  std::vector<Curve> asked_;
  std::vector<Curve> had_;
  std::vector<double> active_until_;
  std::map<std::pair<std::size_t, std::size_t>, double> loans_;
};

}  // namespace

std::vector<double> fair_parts(const std::vector<double>& asked, const std::vector<double>& weights,
                               double gpus) {
  std::vector<std::size_t> order;
  double weight = 0;
  for (std::size_t at = 0; at < asked.size(); ++at) {
    if (weights[at] <= 0 || asked[at] <= 0) continue;
    order.push_back(at);
    weight += weights[at];
  }
  // The owner that requests the least of its share is served first, and leaves the rest to others.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return asked[a] * weights[b] < asked[b] * weights[a];
  });
  std::vector<double> made(asked.size(), 0.0);
  double left = gpus;
  for (const std::size_t at : order) {
    made[at] = std::min(asked[at], left * weights[at] / weight);
    left -= made[at];
    weight -= weights[at];
  }
  double rest = 0;
  for (std::size_t at = 0; at < asked.size(); ++at) rest += weights[at] > 0 ? 0 : asked[at];
  for (std::size_t at = 0; at < asked.size(); ++at) {
    if (weights[at] <= 0 && rest > 0) made[at] = asked[at] * std::min(1.0, left / rest);
  }
  return made;
}

Dues judge(std::span<const Claimant> owners, std::span<const Stay> stays, double length_s,
           double gpus, bool by_tenant) {
  return Judge(owners, stays, length_s, gpus, by_tenant).judge();
}

std::string beside_its_due(const Owner& owner) {
  if (owner.fair_share_gpu_s <= 0) return "had no fair share";
  const double percent = 100 * (owner.used_gpu_s / owner.fair_share_gpu_s - 1);
  if (std::abs(percent) < 0.5) return "got its fair share";
  return fmt::format("got {:.0f} % {} than its fair share", std::abs(percent),
                     percent > 0 ? "more" : "less");
}

}  // namespace almanac::fairness
