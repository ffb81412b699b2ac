// SPDX-License-Identifier: Apache-2.0
#include "advice/gain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>

#include "base/rng.h"
#include "stats/bootstrap.h"
#include "stats/joined_days.h"
#include "stats/quantile.h"

namespace almanac::advice {
namespace {

constexpr std::size_t kDraws = 1000;
constexpr double kLeast_s = 1;

using Times = std::span<const std::uint32_t>;

/// The wait of a job that never starts would only measure how long the log is.
bool count(const Lived& before, const Lived& after) { return before.ended && after.ended; }

double ratio(double before, double after) {
  return after > 0 ? before / after : before > 0 ? HUGE_VAL : 1.0;
}

/// Days joined to blocks for the sums of `field`; nothing if there are too few days, or one queue
/// lasted.
std::optional<stats::JoinedDays> joined_days(const Play& play, const std::vector<Lived>& before,
                                             const std::vector<Lived>& after,
                                             double Lived::*field) {
  std::map<long long, stats::DaySum> days;
  for (std::size_t at = 0; at < before.size(); ++at) {
    if (!count(before[at], after[at])) continue;
    stats::DaySum& sum = days[play.day_of(at)];
    sum.jobs += 1;
    sum.before += before[at].*field;
    sum.after += after[at].*field;
  }
  if (static_cast<std::int64_t>(days.size()) < kFewestDays) return std::nullopt;
  stats::JoinedDays joined = stats::join_days(days);
  return joined.tell ? std::optional(std::move(joined)) : std::nullopt;
}

/// The middle 95 % of `value` over draws of blocks.
Interval interval(std::size_t blocks, std::uint64_t seed,
                  const std::function<double(Times)>& value) {
  std::vector<double> draws;
  Rng rng(seed);
  stats::bootstrap(blocks, kDraws, rng, [&](Times times) { draws.push_back(value(times)); });
  const auto [from, to] = stats::middle_95(draws);
  return {.from = from, .to = to};
}

/// Jobs of one user.
struct Squares {
  double jobs = 0;
  double before = 0;
  double after = 0;

  void add(const Squares& other, double times) {
    jobs += times * other.jobs;
    before += times * other.before;
    after += times * other.after;
  }
};

using Users = std::map<NameId, Squares>;

double ratio(const Users& users) {
  double before = 0;
  double after = 0;
  for (const auto& [user, squares] : users) {
    if (squares.jobs == 0) continue;
    before += std::max(kLeast_s, std::sqrt(squares.before / squares.jobs));
    after += std::max(kLeast_s, std::sqrt(squares.after / squares.jobs));
  }
  return ratio(before, after);
}

}  // namespace

Figures figures_of(const std::vector<Lived>& lived) {
  std::vector<double> waits;
  std::vector<double> jcts;
  for (const Lived& job : lived) {
    waits.push_back(job.wait_s);
    jcts.push_back(job.jct_s);
  }
  const auto mean = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  return {.avg_wait_s = mean(waits),
          .p90_wait_s = stats::quantile(waits, 0.9),
          .p99_wait_s = stats::quantile(waits, 0.99),
          .avg_jct_s = mean(jcts),
          .p99_jct_s = stats::quantile(jcts, 0.99)};
}

Gain gain_of(const Play& play, const std::vector<Lived>& before, const std::vector<Lived>& after,
             double Lived::*field, std::uint64_t seed) {
  double all_before = 0;
  double all_after = 0;
  for (std::size_t at = 0; at < before.size(); ++at) {
    if (!count(before[at], after[at])) continue;
    all_before += before[at].*field;
    all_after += after[at].*field;
  }
  Gain gain{.times = ratio(all_before, all_after)};
  const auto joined = joined_days(play, before, after, field);
  if (!joined) return gain;
  gain.sure = interval(joined->blocks.size(), seed, [&](Times times) {
    double sum_before = 0;
    double sum_after = 0;
    for (std::size_t block = 0; block < joined->blocks.size(); ++block) {
      sum_before += times[block] * joined->blocks[block].before;
      sum_after += times[block] * joined->blocks[block].after;
    }
    return ratio(sum_before, sum_after);
  });
  return gain;
}

Gain users_gain_of(const Play& play, const std::vector<Lived>& before,
                   const std::vector<Lived>& after, std::uint64_t seed) {
  const auto joined = joined_days(play, before, after, &Lived::wait_s);
  const int days_a_block = joined ? joined->days_a_block : 1;
  std::map<long long, Users> blocks;
  for (std::size_t at = 0; at < before.size(); ++at) {
    if (!count(before[at], after[at])) continue;
    const Squares squares{1, before[at].wait_s * before[at].wait_s,
                          after[at].wait_s * after[at].wait_s};
    blocks[play.day_of(at) / days_a_block][play.request(at).user].add(squares, 1);
  }
  Users all;
  for (const auto& [block, users] : blocks) {
    for (const auto& [user, squares] : users) all[user].add(squares, 1);
  }
  Gain gain{.times = ratio(all)};
  if (!joined) return gain;
  gain.sure = interval(blocks.size(), seed, [&](Times times) {
    Users drawn;
    auto time = times.begin();
    for (const auto& [block, users] : blocks) {
      for (const auto& [user, squares] : users) drawn[user].add(squares, *time);
      ++time;
    }
    return ratio(drawn);
  });
  return gain;
}

}  // namespace almanac::advice
