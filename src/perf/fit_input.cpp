// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "perf/fit_parts.h"
#include "stats/least_squares.h"

namespace almanac::perf {
namespace {

constexpr double kLeastPower = 0.05;
constexpr double kLeastDisk = 1e-3;
/// Places between the least and the most memory where the data set may end.
constexpr int kScan = 400;
/// Sums of squares closer than this are the same.
constexpr double kSame = 1e-9;

struct FedPoint {
  double cpus;
  double memory_gb;
  double log_speed;  ///< Of a GPU.
};

std::vector<FedPoint> points_of(std::span<const Measurement> rows) {
  const double enough = std::numeric_limits<double>::infinity();
  std::vector<FedPoint> points;
  for (const Measurement& row : rows) {
    points.push_back({std::isnan(row.cpus_per_gpu) ? enough : row.cpus_per_gpu,
                      std::isnan(row.memory_gb_per_gpu) ? enough : row.memory_gb_per_gpu,
                      std::log(row.throughput / row.gpus)});
  }
  return points;
}

/// The curve and the speed, a logarithm, of a GPU that is fed wholly.
struct Fed {
  InputCurve curve;
  double log_full = 0;
  double sum = std::numeric_limits<double>::infinity();

  double log_speed(const FedPoint& at) const {
    return log_full + std::log(std::min(1.0, curve(at.cpus, at.memory_gb)));
  }
};

/// Least squares from `start`; `memory` = whether its two parameters may move.
Fed descend(std::span<const FedPoint> points, const Fed& start, double least_cpus, double most_cpus,
            bool memory) {
  const double least = std::log(least_cpus);
  const double most = std::log(most_cpus);
  std::vector<stats::Parameter> parameters{{start.log_full, -100, 100},
                                           {std::log(start.curve.enough_cpus), least, most},
                                           {start.curve.power, kLeastPower, 1}};
  if (memory) {
    parameters.push_back({std::log(start.curve.disk), std::log(kLeastDisk), 0});
    parameters.push_back({start.curve.dataset_gb, 1e-3, 1e6});
  }
  const auto fed_of = [&](std::span<const double> p) {
    Fed fed = start;
    fed.log_full = p[0];
    fed.curve.enough_cpus = std::exp(p[1]);
    fed.curve.power = p[2];
    if (memory) {
      fed.curve.disk = std::exp(p[3]);
      fed.curve.dataset_gb = p[4];
    }
    return fed;
  };
  const auto found = stats::least_squares(
      parameters, points.size(), [&](std::span<const double> p, std::span<double> errors) {
        const Fed fed = fed_of(p);
        for (std::size_t at = 0; at < points.size(); ++at) {
          errors[at] = fed.log_speed(points[at]) - points[at].log_speed;
        }
      });
  Fed fed = fed_of(found.parameters);
  fed.sum = found.sum;
  return fed;
}

/// The curve of cores, from the points with most memory. Started from each number of cores; of
/// equals the fewest.
Fed fit_cpus(std::span<const FedPoint> points, const std::set<double>& cpus) {
  double most_memory_gb = 0;
  for (const FedPoint& point : points) most_memory_gb = std::max(most_memory_gb, point.memory_gb);
  std::vector<FedPoint> fed_well;
  double log_full = -100;
  for (const FedPoint& point : points) {
    if (point.memory_gb < most_memory_gb) continue;
    fed_well.push_back(point);
    log_full = std::max(log_full, point.log_speed);
  }
  Fed best;
  for (const double enough : cpus) {
    const Fed start{.curve = {.enough_cpus = enough, .power = 0.9}, .log_full = log_full};
    const Fed found = descend(fed_well, start, *cpus.begin(), *cpus.rbegin(), false);
    if (found.sum < best.sum - kSame) best = found;
  }
  return best;
}

double sum_over(std::span<const FedPoint> points, const Fed& fed) {
  double sum = 0;
  for (const FedPoint& point : points) sum += std::pow(fed.log_speed(point) - point.log_speed, 2);
  return sum;
}

/// Adds the curve of memory. Of equals the largest data set: what was not measured is not promised.
Fed fit_memory(std::span<const FedPoint> points, Fed fed) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const FedPoint& point : points) {
    if (std::isinf(point.memory_gb)) continue;
    least = std::min(least, point.memory_gb);
    most = std::max(most, point.memory_gb);
  }
  fed.sum = sum_over(points, fed);
  Fed best = fed;
  if (!(most > least)) return best;
  for (int at = 1; at <= kScan; ++at) {
    Fed tried = fed;
    tried.curve.dataset_gb = least * std::pow(most / least, static_cast<double>(at) / kScan);
    const std::vector<stats::Parameter> disk{{-2, std::log(kLeastDisk), 0}};
    const auto found = stats::least_squares(
        disk, points.size(), [&](std::span<const double> p, std::span<double> errors) {
          tried.curve.disk = std::exp(p[0]);
          for (std::size_t row = 0; row < points.size(); ++row) {
            errors[row] = tried.log_speed(points[row]) - points[row].log_speed;
          }
        });
    tried.curve.disk = std::exp(found.parameters[0]);
    tried.sum = found.sum;
    if (tried.sum < fed.sum - kSame && tried.sum <= best.sum + kSame) best = tried;
  }
  return best;
}

Fed fit_points(std::span<const FedPoint> points) {
  std::set<double> cpus;
  for (const FedPoint& point : points) {
    if (std::isfinite(point.cpus)) cpus.insert(point.cpus);
  }
  if (cpus.empty()) cpus.insert(1);
  Fed fed = fit_memory(points, fit_cpus(points, cpus));
  if (fed.curve.disk < 1) {
    const Fed polished = descend(points, fed, *cpus.begin(), *cpus.rbegin(), true);
    if (polished.sum < fed.sum - kSame) fed = polished;
  }
  return fed;
}

double held_out_error(std::span<const FedPoint> points) {
  std::set<double> cpus;
  for (const FedPoint& point : points) cpus.insert(point.cpus);
  if (cpus.size() < 3) return kNotSaid;
  double sum = 0;
  for (const double left_out : cpus) {
    std::vector<FedPoint> others;
    std::vector<FedPoint> held_out;
    for (const FedPoint& point : points) {
      (point.cpus == left_out ? held_out : others).push_back(point);
    }
    sum += sum_over(held_out, fit_points(others));
  }
  return root_mean(sum, points.size());
}

}  // namespace

double root_mean(double sum_of_squares, std::size_t count) {
  return count == 0 ? kNotSaid : std::sqrt(sum_of_squares / static_cast<double>(count));
}

Input fit_input(std::span<const Measurement> rows) {
  int fewest = rows.front().gpus;
  for (const Measurement& row : rows) fewest = std::min(fewest, row.gpus);
  std::vector<Measurement> fitted;
  for (const Measurement& row : rows) {
    if (row.gpus == fewest) fitted.push_back(row);
  }
  const std::vector<FedPoint> points = points_of(fitted);
  const Fed fed = fit_points(points);
  return {.curve = fed.curve,
          .source = {},
          .gpu_type = rows.front().gpu_type,
          .error = {root_mean(fed.sum, points.size()), held_out_error(points)}};
}

double judge_input(const InputCurve& curve, std::span<const Measurement> rows) {
  const std::vector<FedPoint> points = points_of(rows);
  // The full speed of these rows is not the curve's to tell: their mean error is taken out.
  Fed fed{.curve = curve};
  double mean = 0;
  for (const FedPoint& point : points) {
    mean += (point.log_speed - fed.log_speed(point)) / static_cast<double>(points.size());
  }
  fed.log_full = mean;
  return root_mean(sum_over(points, fed), points.size());
}

}  // namespace almanac::perf
