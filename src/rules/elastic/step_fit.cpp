// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/step_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "rules/elastic/box_minimum.h"

namespace almanac::elastic {
namespace {

using Values = std::array<double, StepModel::kSize>;

constexpr double kLeast = 1e-8;
constexpr double kOverlapPrice = 1e-3;
constexpr double kGrowthPrice = 1e-2;
constexpr std::array<double, 3> kOverlapsTried{1.001, 2, 5};
constexpr std::array<double, 3> kRoundings{1e-2, 1e-3, 1e-5};

// Positions in StepModel::values().
enum : std::size_t {
  kCompute,
  kPerSample,
  kAcross,
  kAcrossPerGpu,
  kWithin,
  kWithinPerGpu,
  kOverlap
};

/// Adds the price of exchanges that grow with GPUs.
double price_growth(const Values& v, std::size_t base, std::size_t growth, Values& gradient) {
  const double ratio = v[growth] / v[base];
  gradient[growth] += 2 * kGrowthPrice * ratio / v[base];
  gradient[base] -= 2 * kGrowthPrice * ratio * ratio / v[base];
  return kGrowthPrice * ratio * ratio;
}

/// `rounding` rounds off the kinks that the errors have where they vanish.
double objective(const Values& v, std::span<const Observation> seen, double rounding,
                 Values& gradient) {
  const StepModel model = StepModel::of(v);
  const double power = model.overlap;
  double squares_pass = 0;
  double squares_step = 0;
  Values by_pass{};
  Values by_step{};
  for (const Observation& each : seen) {
    const double pass = model.pass_s(each.atomic_batch);
    const double exchange = model.exchange_s(each.nodes, each.gpus);
    const double log_pass = std::log(pass);
    const double log_exchange = std::log(exchange);
    const double pass_power = std::exp(power * log_pass);
    const double exchange_power = std::exp(power * log_exchange);
    const double sum = pass_power + exchange_power;
    const double log_sum = std::log(sum);

    const double off_pass = log_pass - std::log(each.time.accumulation_s());
    squares_pass += off_pass * off_pass;
    by_pass[kCompute] += off_pass / pass;
    by_pass[kPerSample] += off_pass / pass * each.atomic_batch;

    const double off_step = log_sum / power - std::log(each.time.step_s);
    squares_step += off_step * off_step;
    const double to_pass = off_step * pass_power / (pass * sum);
    by_step[kCompute] += to_pass;
    by_step[kPerSample] += to_pass * each.atomic_batch;
    if (each.gpus > 1) {
      const double to_exchange = off_step * exchange_power / (exchange * sum);
      const std::size_t base = each.nodes > 1 ? kAcross : kWithin;
      by_step[base] += to_exchange;
      by_step[base + 1] += to_exchange * std::max(each.gpus - 2.0, kLeast);
    }
    by_step[kOverlap] +=
        off_step * ((pass_power * log_pass + exchange_power * log_exchange) / (sum * power) -
                    log_sum / (power * power));
  }
  const auto count = static_cast<double>(seen.size());
  const double error_pass = std::sqrt(squares_pass / count + rounding * rounding);
  const double error_step = std::sqrt(squares_step / count + rounding * rounding);
  gradient.fill(0);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (error_pass > 0) gradient[i] += by_pass[i] / (count * error_pass);
    if (error_step > 0) gradient[i] += by_step[i] / (count * error_step);
  }
  gradient[kOverlap] += 2 * kOverlapPrice * (power - 1);
  return error_pass + error_step + kOverlapPrice * (power - 1) * (power - 1) +
         price_growth(v, kAcross, kAcrossPerGpu, gradient) +
         price_growth(v, kWithin, kWithinPerGpu, gradient);
}

}  // namespace

double fit_objective(const StepModel& model, std::span<const Observation> seen) {
  Values unused{};
  return objective(model.values(), seen, 0, unused);
}

StepModel fit_steps(std::span<const Observation> seen) {
  ALMANAC_CHECK(!seen.empty(), "a fit of nothing");
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Values start{0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 0};
  Box<StepModel::kSize> box{.lower = {kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, 1},
                            .upper = {kNone, kNone, kNone, kNone, kNone, kNone, 10}};
  const auto fix = [&](std::size_t at, double value) {
    start[at] = box.lower[at] = box.upper[at] = value;
  };
  const auto any = [&](auto holds) { return std::any_of(seen.begin(), seen.end(), holds); };
  const bool across = any([](const Observation& each) { return each.nodes > 1; });
  if (!any([&](const Observation& each) { return each.atomic_batch != seen[0].atomic_batch; })) {
    double sum = 0;
    for (const Observation& each : seen) sum += each.time.accumulation_s();
    fix(kCompute, sum / static_cast<double>(seen.size()) / 2);
  }
  if (!across) {
    fix(kAcross, kLeast);
    fix(kAcrossPerGpu, kLeast);
  }
  if (!any([](const Observation& each) { return each.nodes == 1 && each.gpus > 1; })) {
    fix(kWithin, kLeast);
    fix(kWithinPerGpu, kLeast);
  }
  if (!any([](const Observation& each) { return each.gpus > 2; })) {
    fix(kAcrossPerGpu, kLeast);
    fix(kWithinPerGpu, kLeast);
  }
  // Times are fitted as logarithms, because they differ by orders of magnitude.
  const auto times = [](const Values& logs) {
    Values made = logs;
    for (std::size_t i = 0; i < kOverlap; ++i) made[i] = std::exp(logs[i]);
    return made;
  };
  double rounding = 0;
  const auto function = [&](const Values& logs, Values& gradient) {
    const Values v = times(logs);
    const double value = objective(v, seen, rounding, gradient);
    for (std::size_t i = 0; i < kOverlap; ++i) gradient[i] *= v[i];
    return value;
  };
  for (std::size_t i = 0; i < kOverlap; ++i) {
    start[i] = std::log(start[i]);
    box.lower[i] = std::log(box.lower[i]);
    box.upper[i] = std::log(box.upper[i]);
  }
  Minimum<StepModel::kSize> best{.value = kNone};
  rounding = kRoundings.front();
  for (const double overlap : kOverlapsTried) {
    start[kOverlap] = overlap;
    const Minimum<StepModel::kSize> each = minimise(function, box, start);
    if (each.value < best.value) best = each;
  }
  for (const double finer : std::span(kRoundings).subspan(1)) {
    rounding = finer;
    best = minimise(function, box, best.at);
  }
  Values found = times(best.at);
  if (!across) {
    // Nodes exchange no faster than one of them inside.
    found[kAcross] = std::max(found[kAcross], found[kWithin] * 1.1);
    found[kAcrossPerGpu] = std::max(found[kAcrossPerGpu], found[kWithinPerGpu] * 1.1);
  }
  return StepModel::of(found);
}

}  // namespace almanac::elastic
