// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "inference/request_log.h"
#include "inference/workload/workload.h"
#include "stats/normal.h"
#include "stats/quantile.h"

namespace almanac::inference {
namespace {

/// Returns the spread of the halves of a period of `seconds`. Between two rows of `bursts` its
/// square is interpolated by the logarithm of the length. 0 for a period longer than all rows.
double spread_of(const std::vector<Burst>& bursts, double seconds) {
  constexpr double kRounding = 1 + 1e-9;
  if (bursts.empty() || seconds > kRounding * bursts.front().seconds) return 0;
  const auto shorter = std::find_if(bursts.begin(), bursts.end(),
                                    [&](const Burst& each) { return each.seconds <= seconds; });
  if (shorter == bursts.begin()) return bursts.front().spread;
  if (shorter == bursts.end()) return bursts.back().spread;
  const Burst& longer = *std::prev(shorter);
  const double part =
      std::log(seconds / shorter->seconds) / std::log(longer.seconds / shorter->seconds);
  return std::sqrt(
      std::lerp(shorter->spread * shorter->spread, longer.spread * longer.spread, part));
}

/// The logarithm of a draw from a gamma distribution of scale 1. Below a shape of 1 the draw itself
/// may be too small for a double.
///
/// Source   Marsaglia and Tsang, ACM TOMS 2000.
double log_gamma_draw(double shape, Rng& rng) {
  if (shape < 1) return log_gamma_draw(shape + 1, rng) - rng.exponential() / shape;
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = rng.normal(), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (-rng.exponential() < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

/// A part of a whole, 1/2 on average, with this standard deviation: a beta distribution.
double drawn_half(double spread, Rng& rng) {
  constexpr double kEven = 1e-4, kOneSided = 0.499;
  if (spread < kEven) return 0.5;
  if (spread > kOneSided) return rng.uniform() < 0.5 ? 0 : 1;
  const double shape = (1 / (4 * spread * spread) - 1) / 2;
  const double one = log_gamma_draw(shape, rng), other = log_gamma_draw(shape, rng);
  return 1 / (1 + std::exp(other - one));
}

/// How many of `count` fall into a part of `p`.
std::size_t binomial_draw(std::size_t count, double p, Rng& rng) {
  constexpr std::size_t kFew = 256;
  if (count <= kFew) {
    std::size_t made = 0;
    for (std::size_t each = 0; each < count; ++each) made += rng.uniform() < p;
    return made;
  }
  const double n = static_cast<double>(count);
  const double drawn = std::round(n * p + std::sqrt(n * p * (1 - p)) * rng.normal());
  return static_cast<std::size_t>(std::clamp(drawn, 0.0, n));
}

/// Adds the places of `count` requests within [begin, begin + length) to `made`, in order.
void scatter(std::size_t count, double begin, double length, const std::vector<Burst>& bursts,
             Rng& rng, std::vector<double>& made) {
  if (count == 0) return;
  if (count == 1 || bursts.empty() || length < bursts.back().seconds) {
    const auto first = static_cast<std::ptrdiff_t>(made.size());
    for (std::size_t each = 0; each < count; ++each) made.push_back(begin + length * rng.uniform());
    std::sort(made.begin() + first, made.end());
    return;
  }
  const double half = length / 2;
  const std::size_t before = binomial_draw(count, drawn_half(spread_of(bursts, length), rng), rng);
  scatter(before, begin, half, bursts, rng, made);
  scatter(count - before, begin + half, half, bursts, rng, made);
}

/// Maps even time to that of the clock: as the hours of a day are weighted.
class Clock {
 public:
  explicit Clock(const Workload& workload) : span_s_(workload.hours * 3600) {
    if (workload.day.empty()) return;
    const auto hours = static_cast<std::size_t>(std::ceil(workload.hours));
    reach_.push_back(0);
    for (std::size_t hour = 0; hour < hours; ++hour) {
      const double part = std::min(1.0, workload.hours - static_cast<double>(hour));
      reach_.push_back(reach_.back() + part * workload.day[hour % workload.day.size()]);
    }
  }
  /// Both in seconds from the start.
  double operator()(double even_s) const {
    if (reach_.empty()) return even_s;
    const double sought = even_s / span_s_ * reach_.back();
    const auto after = std::upper_bound(reach_.begin() + 1, reach_.end() - 1, sought);
    const auto hour = after - reach_.begin() - 1;
    const double inside = *after > *std::prev(after)
                              ? (sought - *std::prev(after)) / (*after - *std::prev(after))
                              : 0;
    const double begin_s = 3600.0 * static_cast<double>(hour);
    return begin_s + inside * std::min(3600.0, span_s_ - begin_s);
  }

 private:
  double span_s_;
  std::vector<double> reach_{};
};

/// Past requests of one tenant, which later requests may continue.
class Heads {
 public:
  Heads(const Tenant& tenant, std::int32_t block_tokens, std::uint64_t& next_id)
      : tenant_(tenant), block_tokens_(block_tokens), next_id_(next_id) {
    for (std::int32_t each = 0; each < tenant.common_tokens / block_tokens; ++each) {
      common_.push_back(next_id_++);
    }
  }
  bool any() const { return !common_.empty() || !tenant_.follow.empty(); }

  /// `rank`: the part of all prompts that are shorter.
  void name_blocks(Request& request, double at_s, double rank, Rng& rng,
                   std::vector<std::uint64_t>& blocks) {
    const auto count =
        static_cast<std::size_t>((request.prompt + block_tokens_ - 1) / block_tokens_);
    request.first_block = static_cast<std::uint32_t>(blocks.size());
    request.blocks = static_cast<std::uint32_t>(count);
    std::size_t shared = std::min(common_.size(), count);
    const Head* from = nullptr;
    if (rng.uniform() < follows(rank)) {
      const double part = drawn(tenant_.follow_part, rng);
      const auto wanted = static_cast<std::size_t>(std::lround(part * static_cast<double>(count)));
      const double age_s = drawn(tenant_.follow_age_s, rng);
      if (wanted > shared) from = earlier(at_s - age_s, wanted);
      if (from != nullptr) shared = wanted;
    }
    for (std::size_t each = 0; each < shared; ++each) {
      blocks.push_back(from != nullptr ? blocks[from->first_block + each] : common_[each]);
    }
    for (std::size_t each = shared; each < count; ++each) blocks.push_back(next_id_++);
    came_.push_back({at_s, request.first_block, count});
  }

 private:
  struct Head {
    double at_s;
    std::size_t first_block, blocks;
  };
  double follows(double rank) const {
    const auto& groups = tenant_.follow;
    if (groups.empty()) return 0;
    const auto group = static_cast<std::size_t>(rank * static_cast<double>(groups.size()));
    return groups[std::min(group, groups.size() - 1)];
  }
  static double drawn(const std::vector<double>& quantiles, Rng& rng) {
    return stats::quantile_sorted(quantiles, rng.uniform());
  }
  /// The request that came nearest to `at_s` of those with `blocks` or more; null = none among the
  /// neighbors.
  const Head* earlier(double at_s, std::size_t blocks) const {
    constexpr std::ptrdiff_t kNeighbours = 512;
    const auto size = std::ssize(came_);
    auto after = std::lower_bound(came_.begin(), came_.end(), at_s,
                                  [](const Head& head, double at) { return head.at_s < at; }) -
                 came_.begin();
    auto before = after - 1;
    for (std::ptrdiff_t tried = 0; tried < kNeighbours && (before >= 0 || after < size); ++tried) {
      const bool back = after >= size || (before >= 0 && at_s - came_[index(before)].at_s <=
                                                             came_[index(after)].at_s - at_s);
      const Head& head = came_[index(back ? before-- : after++)];
      if (head.blocks >= blocks) return &head;
    }
    return nullptr;
  }
  static std::size_t index(std::ptrdiff_t at) { return static_cast<std::size_t>(at); }

  const Tenant& tenant_;
  std::int32_t block_tokens_;
  std::uint64_t& next_id_;
  std::vector<std::uint64_t> common_{};
  std::vector<Head> came_{};
};

/// How many requests each tenant has: its part, the largest remainders rounded up.
std::vector<std::size_t> counts_of(const Workload& workload) {
  double sum = 0;
  for (const Tenant& each : workload.tenants) sum += each.requests;
  const double total = static_cast<double>(workload.requests);
  std::vector<std::size_t> counts;
  std::vector<double> rest;
  for (const Tenant& each : workload.tenants) {
    const double part = total * each.requests / sum;
    counts.push_back(static_cast<std::size_t>(part));
    rest.push_back(part - std::floor(part));
  }
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  auto left = static_cast<std::size_t>(workload.requests) -
              std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t each = 0; left > 0; each = (each + 1) % order.size(), --left) {
    ++counts[order[each]];
  }
  return counts;
}

std::uint32_t number_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
  names.push_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

/// Draws the adapter of each request of a tenant, one after the other for itself.
class AdapterDraw {
 public:
  AdapterDraw(const Tenant& tenant, std::vector<std::string>& names) {
    for (const std::string& each : tenant.adapters) {
      numbers_.push_back(each.empty() ? 0 : number_in(names, each) + 1);
    }
    double sum = 0;
    for (const double weight : tenant.adapter_requests) reach_.push_back(sum += weight);
  }
  std::uint32_t operator()(Rng& rng) const {
    if (reach_.empty() || reach_.back() <= 0) return 0;
    const double at = rng.uniform() * reach_.back();
    const auto found = std::upper_bound(reach_.begin(), reach_.end() - 1, at);
    return numbers_[static_cast<std::size_t>(found - reach_.begin())];
  }

 private:
  std::vector<std::uint32_t> numbers_;
  std::vector<double> reach_;
};

/// `times`, but not beyond a peak that is known.
double no_more(double times, double peak) { return peak > 0 ? std::min(times, peak) : times; }

/// No length becomes longer than the longest was: that is a limit of the model mostly.
void stretch(Lengths& lengths, double times) {
  const double most = lengths.at.back();
  for (std::vector<double>* const values : {&lengths.at, &lengths.tail}) {
    for (double& each : *values) each = std::clamp(each * times, 1.0, most);
  }
}

}  // namespace

Requests generate(const Workload& workload, std::uint64_t seed) {
  const Clock clock(workload);
  const std::vector<std::size_t> counts = counts_of(workload);
  const auto any = [&](std::string Tenant::*name) {
    return std::any_of(workload.tenants.begin(), workload.tenants.end(),
                       [&](const Tenant& each) { return !(each.*name).empty(); });
  };
  const bool name_tenants = any(&Tenant::name), name_models = any(&Tenant::model);
  Requests made;
  std::uint64_t next_id = 0;
  for (std::size_t each = 0; each < workload.tenants.size(); ++each) {
    const Tenant& tenant = workload.tenants[each];
    // Streams of their own: one tenant more or less leaves the others as they were.
    const std::uint64_t own = Rng(seed, each).next();
    Rng when(own, 1), lengths(own, 2), heads_rng(own, 3), adapters_rng(own, 4);
    const AdapterDraw adapter(tenant, made.adapters);
    std::vector<double> even;
    scatter(counts[each], 0, workload.hours * 3600, tenant.bursts, when, even);
    Heads heads(tenant, workload.block_tokens, next_id);
    const std::uint32_t model = name_models ? number_in(made.models, tenant.model) : 0;
    const std::uint32_t name = name_tenants ? number_in(made.tenants, tenant.name) : 0;
    for (const double even_s : even) {
      const double at_s = clock(even_s);
      const double one = stats::normal_draw(lengths);
      const double other =
          tenant.together * one +
          std::sqrt(1 - tenant.together * tenant.together) * stats::normal_draw(lengths);
      const double rank = stats::normal_cdf(one);
      Request request{.arrival = std::round(at_s * 1e6),
                      .prompt = tenant.prompt.quantile(rank),
                      .output = tenant.output.quantile(stats::normal_cdf(other)),
                      .model = model,
                      .tenant = name,
                      .adapter = adapter(adapters_rng)};
      if (heads.any()) heads.name_blocks(request, at_s, rank, heads_rng, made.blocks);
      made.all.push_back(request);
    }
  }
  if (!made.blocks.empty()) made.tokens_per_block = workload.block_tokens;
  std::stable_sort(made.all.begin(), made.all.end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  return made;
}

Workload following(const Workload& workload, std::uint64_t seed) {
  Workload made = workload;
  double before = 0, after = 0;
  for (std::size_t each = 0; each < made.tenants.size(); ++each) {
    Tenant& tenant = made.tenants[each];
    Rng rng(seed, each);
    before += tenant.requests;
    // The halves of a stretch twice as long, of which the first is what was seen.
    constexpr double kLeast = 0.05;
    const double spread = tenant.bursts.empty() ? 0 : tenant.bursts.front().spread;
    const double part = std::clamp(drawn_half(spread, rng), kLeast, 1 - kLeast);
    tenant.requests *= no_more((1 - part) / part, tenant.requests_peak);
    stretch(tenant.prompt,
            no_more(std::exp(tenant.prompt_drift * rng.normal()), tenant.prompt_peak));
    stretch(tenant.output,
            no_more(std::exp(tenant.output_drift * rng.normal()), tenant.output_peak));
    after += tenant.requests;
  }
  made.requests = std::max<std::int64_t>(
      1, std::llround(static_cast<double>(workload.requests) * after / before));
  return made;
}

}  // namespace almanac::inference
