// SPDX-License-Identifier: Apache-2.0
#include "energy/power_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "table/csv_reader.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::energy {
namespace {

/// Where parameters are sought.
constexpr std::pair kBends{0.3, 20.0};
constexpr std::pair kStrains{1.0, 10.0};

/// Returns the argument with the least `loss`. A scan comes first, because `loss` may have several
/// valleys; golden sections then refine the valley found.
double least_of(std::pair<double, double> between, const std::function<double(double)>& loss) {
  constexpr int kScan = 100;
  const double width = (between.second - between.first) / kScan;
  double best = between.first;
  double least = loss(best);
  for (int at = 1; at <= kScan; ++at) {
    const double place = between.first + at * width;
    if (const double found = loss(place); found < least) {
      best = place;
      least = found;
    }
  }
  double low = std::max(between.first, best - width);
  double high = std::min(between.second, best + width);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  while (high - low > 1e-6) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    if (loss(left) <= loss(right)) {
      high = right;
    } else {
      low = left;
    }
  }
  return (low + high) / 2;
}

/// The curve of all jobs but those of `held_out`.
Result<PowerCurve> fit_curve(PowerProfile profile, const std::string& held_out) {
  std::erase_if(profile.jobs, [&](const PowerJob& job) { return job.network == held_out; });
  PowerCurve curve{.idle = 1, .full = 0};
  for (const PowerJob& job : profile.jobs) {
    for (const PowerRow& row : job.rows) {
      curve.idle = std::min(curve.idle, row.draw_w / profile.limit_w);
    }
    curve.full = std::max(curve.full, job.rows.back().draw_w / profile.limit_w);
  }
  curve.full = std::min(curve.full, 1.0);
  if (curve.full <= curve.idle || profile.least_limit_w <= curve.idle * profile.limit_w) {
    return fail(Code::invalid,
                "no curve fits jobs that all draw the same power, or more than every limit");
  }
  curve.bend = least_of(kBends, [&](double bend) {
    curve.bend = bend;
    return judge_curve(profile, curve).draw_w;
  });
  curve.strain = least_of(kStrains, [&](double strain) {
    curve.strain = strain;
    return judge_curve(profile, curve).speed;
  });
  return curve;
}

Result<double> number_of(const table::CsvReader& csv, std::size_t column) {
  const auto number = text::parse_decimal(csv[column]);
  if (!number || !std::isfinite(*number) || *number <= 0) {
    return fail(
        Code::invalid,
        fmt::format("{} must be a number above 0, found \"{}\"", csv.header()[column], csv[column]),
        csv.where());
  }
  return *number;
}

/// By name; of all networks but `held_out`.
std::vector<NetworkUse> uses_of(const PowerProfile& profile, const PowerCurve& curve,
                                const std::string& held_out) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const PowerJob& job : profile.jobs) {
    if (job.network == held_out) continue;
    auto& [sum, count] = sums[job.network];
    sum += curve.use_of(job.rows.back().draw_w / profile.limit_w);
    ++count;
  }
  std::vector<NetworkUse> uses;
  for (const auto& [network, sum] : sums) uses.push_back({network, sum.first / sum.second});
  return uses;
}

using Jobs = std::map<std::array<std::string, 4>, PowerJob>;

Result<Jobs> read_jobs(const std::string& path) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  constexpr std::array kColumns{"dataset",     "network",        "batch_size",   "optimizer",
                                "power_limit", "time_per_epoch", "average_power"};
  std::array<std::size_t, kColumns.size()> at{};
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    const auto found = csv->find(kColumns[column]);
    if (!found) {
      return fail(Code::invalid, fmt::format("column {} is missing", kColumns[column]), {path, 1},
                  text::did_you_mean(kColumns[column], csv->header()));
    }
    at[column] = *found;
  }
  Jobs jobs;
  for (;;) {
    const Result<bool> more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return jobs;
    std::array<double, 3> numbers{};
    for (std::size_t which = 0; which < numbers.size(); ++which) {
      const Result<double> number = number_of(*csv, at[4 + which]);
      if (!number) return tl::unexpected(number.error());
      numbers[which] = *number;
    }
    const auto field = [&](std::size_t which) { return std::string((*csv)[at[which]]); };
    PowerJob& job = jobs[{field(0), field(1), field(2), field(3)}];
    job.network = field(1);
    job.rows.push_back({numbers[0], numbers[1], numbers[2]});
  }
}

}  // namespace

Result<PowerProfile> read_power_profile(const std::string& path) {
  Result<Jobs> jobs = read_jobs(path);
  if (!jobs) return tl::unexpected(jobs.error());
  PowerProfile profile;
  for (auto& [key, job] : *jobs) {
    std::sort(job.rows.begin(), job.rows.end(),
              [](const PowerRow& a, const PowerRow& b) { return a.limit_w < b.limit_w; });
    profile.limit_w = std::max(profile.limit_w, job.rows.back().limit_w);
  }
  profile.least_limit_w = profile.limit_w;
  for (auto& [key, job] : *jobs) {
    if (job.rows.back().limit_w < profile.limit_w || job.rows.front().limit_w == profile.limit_w) {
      ++profile.dropped;
      continue;
    }
    profile.least_limit_w = std::min(profile.least_limit_w, job.rows.front().limit_w);
    profile.jobs.push_back(std::move(job));
  }
  if (profile.jobs.empty()) {
    return fail(Code::invalid, "no job was measured at two power limits", {path});
  }
  return profile;
}

PowerErrors judge_curve(const PowerProfile& profile, const PowerCurve& curve,
                        const std::string& network, std::optional<double> told) {
  PowerErrors sum;
  int rows = 0;
  for (const PowerJob& job : profile.jobs) {
    if (!network.empty() && job.network != network) continue;
    const PowerRow& free = job.rows.back();
    const double use = told ? *told : curve.use_of(free.draw_w / profile.limit_w);
    for (const PowerRow& row : job.rows) {
      if (row.limit_w == profile.limit_w) continue;
      const double limit = row.limit_w / profile.limit_w;
      sum.draw_w += std::pow(curve.draw(use, limit) * profile.limit_w - row.draw_w, 2);
      sum.speed += std::pow(curve.speed(use, limit) - free.time_s / row.time_s, 2);
      ++rows;
    }
  }
  return {std::sqrt(sum.draw_w / rows), std::sqrt(sum.speed / rows)};
}

Result<PowerFit> fit_power(const PowerProfile& profile) {
  std::map<std::string, int> rows;
  for (const PowerJob& job : profile.jobs) {
    rows[job.network] +=
        static_cast<int>(std::count_if(job.rows.begin(), job.rows.end(), [&](const PowerRow& row) {
          return row.limit_w < profile.limit_w;
        }));
  }
  if (rows.size() < 2) {
    return fail(Code::invalid,
                "jobs of at least two networks are needed, to validate one by the other");
  }
  const Result<PowerCurve> curve = fit_curve(profile, "");
  if (!curve) return tl::unexpected(curve.error());
  PowerFit fit{.curve = *curve,
               .errors = judge_curve(profile, *curve),
               .held_out = {},
               .uses = uses_of(profile, *curve, "")};
  fit.networks = static_cast<int>(rows.size());
  PowerErrors squares;
  double by_network = 0;
  double unseen = 0;
  for (const auto& [network, use] : fit.uses) {
    const Result<PowerCurve> others = fit_curve(profile, network);
    if (!others) return tl::unexpected(others.error());
    const PowerErrors wrong = judge_curve(profile, *others, network);
    squares.draw_w += rows[network] * wrong.draw_w * wrong.draw_w;
    squares.speed += rows[network] * wrong.speed * wrong.speed;
    by_network += rows[network] * std::pow(judge_curve(profile, *curve, network, use).speed, 2);
    const double mean = mean_use(uses_of(profile, *others, network));
    unseen += rows[network] * std::pow(judge_curve(profile, *others, network, mean).speed, 2);
    fit.rows += rows[network];
  }
  fit.held_out = {std::sqrt(squares.draw_w / fit.rows), std::sqrt(squares.speed / fit.rows)};
  fit.speed_by_network = std::sqrt(by_network / fit.rows);
  fit.speed_unseen = std::sqrt(unseen / fit.rows);
  return fit;
}

}  // namespace almanac::energy
