// SPDX-License-Identifier: Apache-2.0
#include "perf/fit_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "stats/least_squares.h"

namespace almanac::perf {
namespace {

constexpr double kNoBound = 1e9;  ///< Of a parameter: no bound that data would meet.

/// A line through the logarithm or the batch itself: linear in k, so one start does.
template <typename Curve>
BatchCurve fit_parabola(std::span<const RatePoint> points) {
  const std::vector<stats::Parameter> start(3, {1, -kNoBound, kNoBound});
  const auto found = stats::least_squares(
      start, points.size(), [&](std::span<const double> k, std::span<double> errors) {
        const BatchCurve curve = Curve{{k[0], k[1], k[2]}};
        for (std::size_t at = 0; at < points.size(); ++at) {
          errors[at] = curve(points[at].batch) / points[at].rate - 1;
        }
      });
  return Curve{{found.parameters[0], found.parameters[1], found.parameters[2]}};
}

/// In units of the fastest rate and the largest batch, so that the same starts serve all models:
/// the curve may bend anywhere among the batches.
BatchCurve fit_saturating(std::span<const RatePoint> points) {
  double fastest = 0;
  double largest = 0;
  for (const RatePoint& point : points) {
    fastest = std::max(fastest, point.rate);
    largest = std::max(largest, point.batch);
  }
  stats::LeastSquares best{.parameters = {}, .sum = std::numeric_limits<double>::infinity()};
  for (const double bend : {0.01, 0.1, 1.0}) {
    const std::vector<stats::Parameter> start{{1, 1e-6, 1e4}, {bend, 0, 1e4}};
    auto found = stats::least_squares(
        start, points.size(), [&](std::span<const double> p, std::span<double> errors) {
          for (std::size_t at = 0; at < points.size(); ++at) {
            const double batch = points[at].batch / largest;
            errors[at] = p[0] * batch / (batch + p[1]) / (points[at].rate / fastest) - 1;
          }
        });
    if (found.sum < best.sum) best = std::move(found);
  }
  return Saturating{.a = best.parameters[0] * fastest, .c = best.parameters[1] * largest};
}

BatchCurve make_table(std::span<const RatePoint> points) {
  std::map<double, std::pair<double, int>> sums;
  for (const RatePoint& point : points) {
    auto& [sum, count] = sums[point.batch];
    sum += point.rate;
    ++count;
  }
  RateTable table;
  for (const auto& [batch, sum] : sums) {
    table.batches.push_back(batch);
    table.rates.push_back(sum.first / sum.second);
  }
  return table;
}

double relative_error(const GenieRate& rate, const RatePoint& point) {
  return rate(point.batch, point.shape) / point.rate - 1;
}

}  // namespace

BatchCurve fit_curve(CurveForm form, std::span<const RatePoint> points) {
  switch (form) {
    case CurveForm::saturating:
      return fit_saturating(points);
    case CurveForm::quadratic:
      return fit_parabola<Quadratic>(points);
    case CurveForm::quadratic_log:
      return fit_parabola<QuadraticLog>(points);
    case CurveForm::table:
      break;
  }
  return make_table(points);
}

Comm fit_comm(Comm::Form form, std::span<const CommPoints> tasks) {
  std::vector<std::pair<GenieRate, RatePoint>> joint;
  for (const CommPoints& task : tasks) {
    for (const RatePoint& point : task.points) {
      if (point.shape.gpus() > 1) joint.push_back({{*task.one_gpu, {form, 0, 0}}, point});
    }
  }
  if (joint.empty()) return {form, 0, 0};
  // GPUs are lost in GPUs; waiting is in seconds, of which a step says how many are much.
  double unit = 1;
  if (form == Comm::Form::sync) {
    unit = 0;
    for (const auto& [rate, point] : joint) {
      const double each = point.batch / point.shape.gpus();
      unit += each / rate.one_gpu(each) / static_cast<double>(joint.size());
    }
  }
  // gamma * lambda in place of lambda: two costs that each stand for themselves. With gamma 0
  // lambda would be no number: a trace of it serves.
  const auto comm_of = [&](std::span<const double> p) {
    const double gamma = std::max(p[0], 1e-9);
    return Comm{form, gamma * unit, p[1] / gamma};
  };
  stats::LeastSquares best{.parameters = {}, .sum = std::numeric_limits<double>::infinity()};
  for (const double start : {0.05, 0.5}) {
    const std::vector<stats::Parameter> parameters{{start, 0, kNoBound}, {start, 0, kNoBound}};
    auto found = stats::least_squares(parameters, joint.size(),
                                      [&](std::span<const double> p, std::span<double> errors) {
                                        const Comm comm = comm_of(p);
                                        for (std::size_t at = 0; at < joint.size(); ++at) {
                                          auto& [rate, point] = joint[at];
                                          rate.comm = comm;
                                          errors[at] = relative_error(rate, point);
                                        }
                                      });
    if (found.sum < best.sum) best = std::move(found);
  }
  return comm_of(best.parameters);
}

double fit_startup(std::span<const std::vector<TimedRun>> groups) {
  std::vector<stats::Parameter> parameters{{0, 0, kNoBound}};
  std::size_t runs = 0;
  for (const auto& group : groups) {
    const auto longest = std::max_element(
        group.begin(), group.end(),
        [](const TimedRun& one, const TimedRun& other) { return one.seconds < other.seconds; });
    parameters.push_back({longest->seconds / longest->steps, 0, kNoBound});
    runs += group.size();
  }
  const auto found = stats::least_squares(
      parameters, runs, [&](std::span<const double> p, std::span<double> errors) {
        std::size_t at = 0;
        for (std::size_t group = 0; group < groups.size(); ++group) {
          for (const TimedRun& run : groups[group]) {
            errors[at++] = (p[0] + p[group + 1] * run.steps) / run.seconds - 1;
          }
        }
      });
  return found.parameters[0];
}

}  // namespace almanac::perf
