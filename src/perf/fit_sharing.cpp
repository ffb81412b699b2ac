// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "perf/fit_parts.h"
#include "stats/least_squares.h"

namespace almanac::perf {
namespace {

constexpr std::size_t kPairTurns = 10;
/// Logarithms of what a model suffers or causes stay within these.
constexpr double kMostLog = 8;
constexpr double kMostPower = 2;

using Job = std::pair<std::string, double>;  ///< Model and batch.

struct Pair {
  Job job;
  Job beside;
  double speed;  ///< Of the job, relative to alone.
};

/// The speeds alone, and the pairs of which both are known.
struct Pairs {
  std::map<Job, double> step_s;
  std::vector<Pair> pairs;

  explicit Pairs(std::span<const Measurement> rows) {
    std::map<Job, double> alone;
    for (const Measurement& row : rows) {
      if (!row.neighbour.empty()) continue;
      alone[{row.model, row.batch}] = row.throughput;
      step_s[{row.model, row.batch}] = row.batch / row.throughput;
    }
    for (const Measurement& row : rows) {
      const auto solo = alone.find({row.model, row.batch});
      if (row.neighbour.empty() || row.throughput == 0 || solo == alone.end()) continue;
      pairs.push_back(
          {solo->first, {row.neighbour, row.neighbour_batch}, row.throughput / solo->second});
    }
  }
};

using Models = std::map<std::string, Sharing>;

double speed_of(const Models& models, const Pair& pair) {
  return shared_speed(models.at(pair.job.first).suffers_at(pair.job.second),
                      models.at(pair.beside.first).causes_at(pair.beside.second));
}

/// Models whose batch never changes have no power.
std::map<std::string, std::set<double>> batches_of(std::span<const Pair> pairs) {
  std::map<std::string, std::set<double>> batches;
  for (const Pair& pair : pairs) {
    batches[pair.job.first].insert(pair.job.second);
    batches[pair.beside.first].insert(pair.beside.second);
  }
  return batches;
}

Models fit_pairs(std::span<const Pair> pairs) {
  const auto batches = batches_of(pairs);
  std::vector<stats::Parameter> parameters;
  std::map<std::string, std::size_t> first;
  for (const auto& [model, sizes] : batches) {
    first[model] = parameters.size();
    const double most_power = sizes.size() > 1 ? kMostPower : 0;
    for (int side = 0; side < 2; ++side) {
      parameters.push_back({0, -kMostLog, kMostLog});
      parameters.push_back({0, -most_power, most_power});
    }
  }
  struct Row {
    std::size_t job;
    std::size_t beside;
    double log_batch;
    double log_beside_batch;
    double speed;
  };
  std::vector<Row> rows;
  for (const Pair& pair : pairs) {
    rows.push_back({first[pair.job.first], first[pair.beside.first], std::log(pair.job.second),
                    std::log(pair.beside.second), pair.speed});
  }
  const auto found = stats::least_squares(
      parameters, rows.size(), [&](std::span<const double> p, std::span<double> errors) {
        for (std::size_t at = 0; at < rows.size(); ++at) {
          const Row& row = rows[at];
          const double log_odds = p[row.job] + p[row.job + 1] * row.log_batch + p[row.beside + 2] +
                                  p[row.beside + 3] * row.log_beside_batch;
          errors[at] = 1 / (1 + std::exp(log_odds)) - row.speed;
        }
      });
  // Only products show: what all suffer and cause on average is made the same.
  double tilt = 0;
  for (const auto& [model, at] : first) {
    tilt +=
        (found.parameters[at] - found.parameters[at + 2]) / 2 / static_cast<double>(first.size());
  }
  Models models;
  for (const auto& [model, at] : first) {
    models[model] = {.suffers = std::exp(found.parameters[at] - tilt),
                     .suffers_power = found.parameters[at + 1],
                     .causes = std::exp(found.parameters[at + 2] + tilt),
                     .causes_power = found.parameters[at + 3]};
  }
  return models;
}

/// ln y = offset + slope * ln x, by least squares.
struct LogLine {
  double offset = 0;
  double slope = 0;

  explicit LogLine(std::span<const std::pair<double, double>> points) {
    const auto count = static_cast<double>(points.size());
    double x = 0;
    double y = 0;
    for (const auto& point : points) {
      x += std::log(point.first) / count;
      y += std::log(point.second) / count;
    }
    double xx = 0;
    double xy = 0;
    for (const auto& point : points) {
      xx += std::pow(std::log(point.first) - x, 2);
      xy += (std::log(point.first) - x) * (std::log(point.second) - y);
    }
    slope = xx > 0 ? xy / xx : 0;
    offset = y - slope * x;
  }
};

/// What steps tell, from the jobs whose sharing is known.
SharingByStep by_step(const Models& models, const std::map<Job, double>& step_s) {
  std::vector<std::pair<double, double>> suffers;
  std::vector<std::pair<double, double>> causes;
  for (const auto& [job, seconds] : step_s) {
    const auto model = models.find(job.first);
    if (model == models.end()) continue;
    suffers.emplace_back(seconds, model->second.suffers_at(job.second));
    causes.emplace_back(seconds, model->second.causes_at(job.second));
  }
  const LogLine suffered(suffers);
  const LogLine caused(causes);
  return {std::exp(suffered.offset), suffered.slope, std::exp(caused.offset), caused.slope};
}

double sum_over(const Models& models, std::span<const Pair> pairs) {
  double sum = 0;
  for (const Pair& pair : pairs) sum += std::pow(speed_of(models, pair) - pair.speed, 2);
  return sum;
}

double held_out_error(const Pairs& all) {
  std::set<std::pair<Job, Job>> couples;
  const auto couple = [](const Pair& pair) { return std::minmax(pair.job, pair.beside); };
  for (const Pair& pair : all.pairs) couples.insert(couple(pair));
  std::map<std::pair<Job, Job>, std::size_t> turn_of;
  for (const auto& jobs : couples) turn_of.emplace(jobs, turn_of.size() % kPairTurns);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t turn = 0; turn < kPairTurns; ++turn) {
    std::vector<Pair> others;
    std::vector<Pair> held_out;
    for (const Pair& pair : all.pairs) {
      (turn_of.at(couple(pair)) == turn ? held_out : others).push_back(pair);
    }
    const auto seen = batches_of(others);
    std::erase_if(held_out, [&](const Pair& pair) {
      return !seen.contains(pair.job.first) || !seen.contains(pair.beside.first);
    });
    if (others.empty()) continue;
    sum += sum_over(fit_pairs(others), held_out);
    count += held_out.size();
  }
  return root_mean(sum, count);
}

/// Sums of squares over the pairs of a model that the fit has not seen.
struct Unseen {
  double told = 0;
  double mean = 0;
  std::size_t count = 0;
};

Unseen judge_unseen(const Pairs& all, const std::string& model) {
  std::vector<Pair> others;
  std::vector<Pair> with;
  double mean = 0;
  for (const Pair& pair : all.pairs) {
    const bool has = pair.job.first == model || pair.beside.first == model;
    (has ? with : others).push_back(pair);
    if (!has) mean += pair.speed;
  }
  if (others.empty()) return {};
  mean /= static_cast<double>(others.size());
  const Models models = fit_pairs(others);
  const SharingByStep rule = by_step(models, all.step_s);
  const auto sharing_of = [&](const Job& job) {
    const auto known = models.find(job.first);
    return known == models.end() ? rule.of(all.step_s.at(job)) : known->second;
  };
  Unseen unseen;
  for (const Pair& pair : with) {
    if (!all.step_s.contains(pair.beside)) continue;
    const double told = shared_speed(sharing_of(pair.job).suffers_at(pair.job.second),
                                     sharing_of(pair.beside).causes_at(pair.beside.second));
    unseen.told += std::pow(told - pair.speed, 2);
    unseen.mean += std::pow(mean - pair.speed, 2);
    ++unseen.count;
  }
  return unseen;
}

}  // namespace

std::optional<SharingFit> fit_sharing(std::span<const Measurement> rows) {
  const Pairs all(rows);
  if (all.pairs.empty()) return std::nullopt;
  SharingFit fit;
  fit.pairs = static_cast<int>(all.pairs.size());
  fit.models = fit_pairs(all.pairs);
  fit.unseen = by_step(fit.models, all.step_s);
  fit.error = {root_mean(sum_over(fit.models, all.pairs), all.pairs.size()), held_out_error(all)};
  Unseen sum;
  for (const auto& [model, sharing] : fit.models) {
    const Unseen unseen = judge_unseen(all, model);
    sum.told += unseen.told;
    sum.mean += unseen.mean;
    sum.count += unseen.count;
  }
  fit.unseen_error = root_mean(sum.told, sum.count);
  fit.mean_error = root_mean(sum.mean, sum.count);
  return fit;
}

}  // namespace almanac::perf
