// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/rng.h"
#include "inference/request_log.h"
#include "inference/workload/workload.h"
#include "stats/correlation.h"
#include "stats/normal.h"
#include "stats/quantile.h"

namespace almanac::inference {
namespace {

constexpr std::size_t kFewestRequests = 20;
/// Fewest requests of a tenant that gets a distribution of its own.
constexpr std::size_t kFewestOfTenant = 50;
constexpr double kLeastHoursForDay = 20;

std::vector<double> quantiles(std::vector<double> values, double from, int steps) {
  std::vector<double> made;
  std::sort(values.begin(), values.end());
  for (int step = 0; step <= steps; ++step) {
    made.push_back(stats::quantile_sorted(values, from + (1 - from) * step / steps));
  }
  return made;
}

Lengths lengths_of(const std::vector<double>& values) {
  constexpr int kSteps = 100, kTailSteps = 10;
  return {quantiles(values, 0, kSteps), quantiles(values, 0.99, kTailSteps)};
}

/// The correlation of normal scores.
double together(const std::vector<double>& one, const std::vector<double>& other) {
  const auto scores = [](const std::vector<double>& values) {
    std::vector<double> made = stats::ranks(values);
    const double size = static_cast<double>(made.size());
    for (double& each : made) each = stats::normal_quantile((each + 0.5) / size);
    return made;
  };
  const double found = stats::pearson(scores(one), scores(other));
  return std::isnan(found) ? 0 : std::clamp(found, -1.0, 1.0);
}

/// How far the mean moves from one stretch of `values` to the next: of the two halves, of those of
/// each half, and of those of each quarter, what chance alone would do taken off. The logarithm's
/// standard deviation.
double drift_of(std::span<const double> values) {
  constexpr std::size_t kLevels = 3;
  constexpr std::size_t kFewest = 20;  // values of a stretch
  struct Mean {
    double log, noise;  // variance of the logarithm by chance
  };
  const auto mean = [](std::span<const double> of) {
    double sum = 0, squares = 0;
    for (const double each : of) {
      sum += each;
      squares += each * each;
    }
    const double n = static_cast<double>(of.size());
    const double variation = squares / n / (sum / n * sum / n) - 1;
    return Mean{std::log(sum / n), variation / n};
  };
  double squares = 0, pairs = 0;
  for (std::size_t level = 0; level < kLevels; ++level) {
    const std::size_t halves = std::size_t{2} << level, size = values.size() / halves;
    if (size < kFewest) break;
    for (std::size_t half = 0; half < halves; half += 2) {
      const Mean one = mean(values.subspan(half * size, size));
      const Mean other = mean(values.subspan((half + 1) * size, size));
      squares += (other.log - one.log) * (other.log - one.log) - one.noise - other.noise;
      ++pairs;
    }
  }
  return pairs > 0 ? std::sqrt(std::max(0.0, squares / pairs)) : 0;
}

/// In how many parts the most is looked for that a log of less than a day shows of something:
/// eighths, but of three minutes at least, for shorter bursts are no load of hours.
std::size_t parts_of(double span_s) {
  constexpr double kShortest_s = 180, kMost = 8;
  return static_cast<std::size_t>(std::clamp(std::floor(span_s / kShortest_s), 2.0, kMost));
}

/// The mean of the part of `values` that has the largest, as a multiple of the mean of all.
double peak_of(std::span<const double> values, std::size_t parts) {
  if (values.size() < parts) return 0;
  const auto mean = [](std::span<const double> of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  double most = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t from = part * values.size() / parts;
    const std::size_t until = (part + 1) * values.size() / parts;
    most = std::max(most, mean(values.subspan(from, until - from)));
  }
  return most / mean(values);
}

/// The requests of the part of [0, span_s) that has most, as a multiple of the mean of all.
double busiest_of(const std::vector<double>& even_s, double span_s, std::size_t parts) {
  std::vector<double> counts(parts, 0);
  for (const double at : even_s) {
    const auto part = static_cast<std::size_t>(at / span_s * static_cast<double>(parts));
    counts[std::min(parts - 1, part)] += 1;
  }
  return peak_of(counts, parts);
}

/// The spreads of halves of the stretches that `even_s`, within [0, span_s), is cut into, twice as
/// many from row to row. `whole_s`: how long the stretches may be that tell something of their
/// own; longer ones are given what those tell.
std::vector<Burst> bursts_of(const std::vector<double>& even_s, double span_s, double whole_s) {
  constexpr double kShortest_s = 1e-3;
  constexpr double kFewestPairs = 30;  // of requests that come in one stretch
  constexpr std::size_t kFewestStretches = 8;
  struct Moments {
    double deviation = 0, pairs = 0;
    std::size_t stretches = 0;
  };
  std::vector<std::pair<double, Moments>> levels;
  for (double seconds = span_s; seconds > kShortest_s; seconds /= 2) {
    // For n requests of a stretch, k of them in its first half: E[(k - n/2)^2] is n/4 were each
    // placed for itself, and n (n - 1) times the square of the spread more.
    Moments seen;
    for (std::size_t at = 0; at < even_s.size();) {
      const double stretch = std::floor(even_s[at] / seconds);
      double count = 0, first = 0;
      for (; at < even_s.size() && std::floor(even_s[at] / seconds) == stretch; ++at) {
        ++count;
        first += even_s[at] / seconds - stretch < 0.5;
      }
      seen.deviation += (first - count / 2) * (first - count / 2) - count / 4;
      seen.pairs += count * (count - 1);
      ++seen.stretches;
    }
    if (seen.pairs < kFewestPairs) break;
    levels.emplace_back(seconds, seen);
  }
  // A few stretches say little each: the longest are taken together until there are enough.
  std::vector<Burst> made;
  Moments longest;
  std::size_t told = 0;
  for (const auto& [seconds, seen] : levels) {
    if (seconds > whole_s) {
      ++told;
      continue;
    }
    if (longest.stretches >= kFewestStretches) break;
    longest.deviation += seen.deviation;
    longest.pairs += seen.pairs;
    longest.stretches += seen.stretches;
    ++told;
  }
  const auto spread = [](const Moments& of) {
    constexpr double kMost = 0.5;
    if (of.pairs <= 0) return 0.0;
    return std::min(kMost, std::sqrt(std::max(0.0, of.deviation / of.pairs)));
  };
  for (std::size_t level = 0; level < levels.size(); ++level) {
    made.push_back({levels[level].first, spread(level < told ? longest : levels[level].second)});
  }
  return made;
}

/// Weights of the hours of a day.
std::vector<double> hours_of_day(const Requests& requests, double hours) {
  constexpr std::size_t kHours = 24;
  std::vector<double> counts(kHours, 0), seen(kHours, 0);
  for (const Request& each : requests.all) {
    counts[static_cast<std::size_t>(each.arrival / 3.6e9) % kHours] += 1;
  }
  for (std::size_t hour = 0; hour < static_cast<std::size_t>(std::ceil(hours)); ++hour) {
    seen[hour % kHours] += std::min(1.0, hours - static_cast<double>(hour));
  }
  double sum = 0;
  for (std::size_t hour = 0; hour < kHours; ++hour) {
    counts[hour] = seen[hour] > 0 ? counts[hour] / seen[hour] : 0;
    sum += counts[hour];
  }
  for (std::size_t hour = 0; hour < kHours; ++hour) {
    // An hour that the log does not reach, or in which nothing came, is as quiet as any can be.
    counts[hour] = std::max(counts[hour] / sum * kHours, 1e-6);
  }
  return counts;
}

/// Even time of each arrival: the part of the day's weight that has passed, times the span.
std::vector<double> in_even_time(const std::vector<double>& at_s, const std::vector<double>& day,
                                 double hours) {
  if (day.empty()) return at_s;
  std::vector<double> reach{0};
  for (std::size_t hour = 0; static_cast<double>(hour) < hours; ++hour) {
    reach.push_back(reach.back() +
                    day[hour % day.size()] * std::min(1.0, hours - static_cast<double>(hour)));
  }
  std::vector<double> made;
  for (const double at : at_s) {
    const double hour = at / 3600;
    const auto whole = std::min(static_cast<std::size_t>(hour), reach.size() - 2);
    const double inside = hour - static_cast<double>(whole);
    const double past = reach[whole] + inside * day[whole % day.size()];
    made.push_back(std::min(past, reach.back()) / reach.back() * hours * 3600);
  }
  return made;
}

/// Divides the requests `of` into equal groups, from the shortest prompts to the longest, and
/// returns the fraction of each that is among `some`.
std::vector<double> parts_by_length(const Requests& requests, const std::vector<RequestId>& of,
                                    const std::vector<RequestId>& some) {
  constexpr std::size_t kGroups = 10;
  std::vector<RequestId> order = of;
  std::stable_sort(order.begin(), order.end(), [&](RequestId a, RequestId b) {
    return requests[a].prompt < requests[b].prompt;
  });
  const std::unordered_set<RequestId> chosen(some.begin(), some.end());
  std::vector<double> made(kGroups, 0), all(kGroups, 0);
  for (std::size_t each = 0; each < order.size(); ++each) {
    const std::size_t group = each * kGroups / order.size();
    all[group] += 1;
    made[group] += chosen.contains(order[each]) ? 1 : 0;
  }
  for (std::size_t group = 0; group < kGroups; ++group) {
    if (all[group] > 0) made[group] /= all[group];
  }
  return made;
}

/// How often each adapter is named.
void learn_adapters(const Requests& requests, const std::vector<RequestId>& of, Tenant& made) {
  if (requests.adapters.empty()) return;
  made.adapters = requests.adapters;
  made.adapters.insert(made.adapters.begin(), "");
  made.adapter_requests.assign(made.adapters.size(), 0);
  for (const RequestId id : of) made.adapter_requests[requests[id].adapter] += 1;
}

/// What is learnt of the heads of prompts, of the requests `of`.
void learn_heads(const Requests& requests, const std::vector<RequestId>& of, Tenant& made) {
  if (requests.tokens_per_block == 0) return;
  constexpr double kCommon = 0.9;                  // part of all that have it
  std::unordered_map<std::uint64_t, double> last;  // when a block came, seconds
  std::unordered_map<std::uint64_t, std::size_t> heads;
  for (const RequestId id : of) {
    const auto ids = requests.ids(requests[id]);
    if (!ids.empty()) ++heads[ids.front()];
  }
  std::size_t most = 0;
  std::uint64_t head = 0;
  for (const auto& [id, count] : heads) {
    if (count > most || (count == most && id < head)) {
      most = count;
      head = id;
    }
  }
  std::vector<std::uint64_t> common;
  bool begun = false;
  if (static_cast<double>(most) >= kCommon * static_cast<double>(of.size())) {
    // What all of these begin with, not counting those that end sooner.
    for (const RequestId id : of) {
      const auto ids = requests.ids(requests[id]);
      if (ids.empty() || ids.front() != head) continue;
      if (!begun) common.assign(ids.begin(), ids.end());
      begun = true;
      std::size_t same = 0;
      while (same < common.size() && same < ids.size() && common[same] == ids[same]) ++same;
      if (same < ids.size()) common.resize(same);
    }
  }
  std::vector<double> parts, ages_s;
  std::vector<RequestId> follow;
  for (std::size_t each = 0; each < of.size(); ++each) {
    const auto ids = requests.ids(requests[of[each]]);
    const double at_s = requests[of[each]].arrival / 1e6;
    std::size_t found = 0;
    while (found < ids.size() && last.contains(ids[found])) ++found;
    if (found > common.size()) {
      parts.push_back(static_cast<double>(found) / static_cast<double>(ids.size()));
      ages_s.push_back(at_s - last[ids[found - 1]]);
      follow.push_back(of[each]);
    }
    for (const std::uint64_t id : ids) last[id] = at_s;
  }
  constexpr int kSteps = 20;
  made.common_tokens = static_cast<std::int32_t>(common.size()) * requests.tokens_per_block;
  if (parts.empty()) return;
  made.follow = parts_by_length(requests, of, follow);
  made.follow_part = quantiles(parts, 0, kSteps);
  made.follow_age_s = quantiles(ages_s, 0, kSteps);
}

Tenant learnt(const Requests& requests, const std::vector<RequestId>& of,
              const std::vector<double>& day, double hours) {
  std::vector<double> at_s, prompts, outputs;
  for (const RequestId id : of) {
    at_s.push_back(requests[id].arrival / 1e6);
    prompts.push_back(requests[id].prompt);
    outputs.push_back(std::max(requests[id].output, 1));
  }
  const double longest_s = day.empty() || hours >= kHoursOfTwoDays ? hours * 3600 : 2 * 3600;
  const std::vector<double> even_s = in_even_time(at_s, day, hours);
  Tenant made{.requests = static_cast<double>(of.size()),
              .prompt = lengths_of(prompts),
              .output = lengths_of(outputs),
              .prompt_drift = drift_of(prompts),
              .output_drift = drift_of(outputs),
              .together = together(prompts, outputs),
              .bursts = bursts_of(even_s, hours * 3600, longest_s)};
  if (hours < kLeastHoursForDay) {
    const std::size_t parts = parts_of(hours * 3600);
    made.requests_peak = busiest_of(even_s, hours * 3600, parts);
    made.prompt_peak = peak_of(prompts, parts);
    made.output_peak = peak_of(outputs, parts);
  }
  learn_adapters(requests, of, made);
  learn_heads(requests, of, made);
  return made;
}

}  // namespace

Result<Workload> fit_workload(const Requests& requests) {
  if (requests.size() < kFewestRequests) {
    return fail(Code::invalid, "has too few requests to learn from", {}, "20 at least");
  }
  const Micros first = requests.all.front().arrival;
  // The last request ends its interval as the first begins its own.
  const double span_s = (requests.all.back().arrival - first) / 1e6 *
                        static_cast<double>(requests.size()) /
                        static_cast<double>(requests.size() - 1);
  if (span_s <= 0) return fail(Code::invalid, "has all its requests at the same instant");
  Requests shifted = requests;
  for (Request& each : shifted.all) each.arrival -= first;
  Workload made{.hours = span_s / 3600, .requests = static_cast<std::int64_t>(requests.size())};
  if (requests.tokens_per_block > 0) made.block_tokens = requests.tokens_per_block;
  if (made.hours >= kLeastHoursForDay) made.day = hours_of_day(shifted, made.hours);

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<RequestId>> origins;
  for (RequestId id = 0; id < shifted.size(); ++id) {
    origins[{shifted[id].tenant, shifted[id].model}].push_back(id);
  }
  std::map<std::uint32_t, std::vector<RequestId>> small;  // by model
  for (const auto& [origin, of] : origins) {
    if (of.size() < kFewestOfTenant && origins.size() > 1) {
      auto& together = small[origin.second];
      together.insert(together.end(), of.begin(), of.end());
      continue;
    }
    Tenant tenant = learnt(shifted, of, made.day, made.hours);
    if (!shifted.tenants.empty()) tenant.name = shifted.tenants[origin.first];
    if (!shifted.models.empty()) tenant.model = shifted.models[origin.second];
    made.tenants.push_back(std::move(tenant));
  }
  for (auto& [model, of] : small) {
    std::sort(of.begin(), of.end());
    Tenant tenant = learnt(shifted, of, made.day, made.hours);
    if (!shifted.tenants.empty()) tenant.name = "others";
    if (!shifted.models.empty()) tenant.model = shifted.models[model];
    made.tenants.push_back(std::move(tenant));
  }
  return made;
}

}  // namespace almanac::inference
