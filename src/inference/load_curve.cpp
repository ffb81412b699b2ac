// SPDX-License-Identifier: Apache-2.0

#include "inference/load_curve.h"

#include <algorithm>
#include <cmath>

#include <tbb/parallel_for.h>

#include "inference/sample.h"

namespace almanac::inference {
namespace {

/// The busiest requests in a row, from time 0.
Requests busiest(const Requests& requests) {
  constexpr std::size_t kMost = 20'000;
  Requests made = requests;
  const std::size_t count = requests.size(), kept = std::min(count, kMost);
  std::size_t best = 0;
  for (std::size_t first = 0; first + kept <= count && kept > 0; ++first) {
    const auto span = [&](std::size_t from) {
      return requests.all[from + kept - 1].arrival - requests.all[from].arrival;
    };
    if (span(first) < span(best)) best = first;
  }
  made.all.assign(requests.all.begin() + static_cast<std::ptrdiff_t>(best),
                  requests.all.begin() + static_cast<std::ptrdiff_t>(best + kept));
  const Micros start = made.all.empty() ? 0 : made.all.front().arrival;
  for (Request& each : made.all) each.arrival -= start;
  return made;
}

/// Repeats requests that begin at time 0, one round after the other, until there are `least`. The
/// content of each round is new, so that no round profits from the caches of the one before.
Requests repeated(const Requests& requests, std::size_t least) {
  Requests made = requests;
  const auto count = static_cast<double>(requests.size());
  const Micros round = requests.all.back().arrival * count / (count - 1);
  const std::uint64_t ids = requests.blocks.empty()
                                ? 0
                                : *std::max_element(requests.blocks.begin(), requests.blocks.end());
  for (std::uint64_t turn = 1; made.size() < least; ++turn) {
    const auto first = static_cast<std::uint32_t>(made.blocks.size());
    for (const std::uint64_t id : requests.blocks) made.blocks.push_back(id + turn * (ids + 1));
    for (Request each : requests.all) {
      each.arrival += static_cast<double>(turn) * round;
      each.first_block += first;
      made.all.push_back(each);
    }
  }
  return made;
}

double rate_of(const Requests& requests) {
  const double span_s = requests.size() < 2 ? 0 : requests.all.back().arrival / 1e6;
  return span_s > 0 ? static_cast<double>(requests.size() - 1) / span_s : 0;
}

/// Whether the fleet meets the objective if requests come `factor` times as fast.
Result<bool> carries(const Service& service, const Requests& requests, const Objective& objective,
                     double share, double factor) {
  Requests faster = requests;
  for (Request& each : faster.all) each.arrival /= factor;
  const auto count = static_cast<double>(faster.size());
  double missed = 0;
  const auto outcomes = play(service, faster, [&](RequestId id, const Outcome& outcome) {
    missed += meets(faster[id], outcome, objective) ? 0 : 1;
    return missed > (1 - share) * count;
  });
  if (!outcomes) return tl::unexpected(outcomes.error());
  return summarize(faster, *outcomes, objective).attainment() >= share;
}

/// Far enough for requests not to meet.
constexpr Micros kApart = 6e8;

Result<double> most_factor(const Service& service, const Requests& requests,
                           const Objective& objective, double share) {
  constexpr double kMost = 1e6, kWithin = 1.03;
  // However fast the log is, its requests are kApart from one another in the end.
  const double least = std::min(1e-3, 1e6 / (rate_of(requests) * kApart));
  const auto does = [&](double factor) {
    return carries(service, requests, objective, share, factor);
  };
  double low = 0, high = 1;
  for (; high < kMost; high *= 2) {
    const auto enough = does(high);
    if (!enough) return tl::unexpected(enough.error());
    if (!*enough) break;
    low = high;
  }
  while (high > least && (low == 0 || high > kWithin * low)) {
    const double middle = low == 0 ? high / 2 : std::sqrt(low * high);
    const auto enough = does(middle);
    if (!enough) return tl::unexpected(enough.error());
    (*enough ? low : high) = middle;
  }
  return low;
}

}  // namespace

Result<std::vector<LoadPoint>> load_curve(const Service& service, const Requests& requests,
                                          const Objective& objective, double share,
                                          std::span<const int> replicas) {
  const Requests sample = busiest(requests);
  const double rate = rate_of(sample);
  if (rate == 0) return std::vector<LoadPoint>{};  // nothing comes faster or slower
  std::vector<Result<double>> factors(replicas.size(), 0.0);
  tbb::parallel_for(std::size_t{0}, replicas.size(), [&](std::size_t at) {
    constexpr std::size_t kEach = 300, kMost = 20'000;  // requests of a replica, and of a fleet
    Service fleet = service;
    fleet.replicas = replicas[at];
    fleet.prefill = 0;
    const std::size_t least = std::min(kMost, kEach * static_cast<std::size_t>(replicas[at]));
    factors[at] = most_factor(fleet, repeated(sample, least), objective, share);
  });
  std::vector<LoadPoint> made;
  for (std::size_t at = 0; at < replicas.size(); ++at) {
    if (!factors[at]) return tl::unexpected(factors[at].error());
    made.push_back({.replicas = replicas[at],
                    .requests_per_s = *factors[at] * rate,
                    .times_log = *factors[at]});
  }
  return made;
}

Result<Seen> play_idle(const Service& service, const Requests& requests,
                       const Objective& objective) {
  constexpr std::size_t kMost = 100;
  Requests alone = requests;
  alone.all.clear();
  for (const std::size_t at : spread_sample(requests.size(), kMost)) {
    alone.all.push_back(requests.all[at]);
    alone.all.back().arrival = static_cast<double>(alone.size() - 1) * kApart;
  }
  Service one = service;
  one.replicas = 1;
  one.prefill = 0;
  const auto outcomes = play(one, alone);
  if (!outcomes) return tl::unexpected(outcomes.error());
  return summarize(alone, *outcomes, objective);
}

IdealFleet ideal_fleet(const Requests& requests, double replica_requests_per_s, int least,
                       Micros period) {
  IdealFleet made{.period = period};
  if (requests.size() == 0 || replica_requests_per_s <= 0) return made;
  const Micros first = requests.all.front().arrival;
  std::vector<int> arrivals;
  for (const Request& each : requests.all) {
    const auto at = static_cast<std::size_t>((each.arrival - first) / period);
    if (at >= arrivals.size()) arrivals.resize(at + 1);
    ++arrivals[at];
  }
  const double served = replica_requests_per_s * period / 1e6;
  for (std::size_t at = 0; at < arrivals.size(); ++at) {
    const int replicas = std::max(least, static_cast<int>(std::ceil(arrivals[at] / served)));
    made.steps.push_back({first + static_cast<double>(at) * period, replicas});
    made.peak = std::max(made.peak, replicas);
    made.replica_s += replicas * period / 1e6;
  }
  return made;
}

}  // namespace almanac::inference
