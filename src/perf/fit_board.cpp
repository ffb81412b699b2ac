// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "perf/fit_parts.h"
#include "stats/least_squares.h"

namespace almanac::perf {
namespace {

constexpr double kMostOverlap = 10;
constexpr std::size_t kTurns = 10;
/// In units of the shortest step and the usual batch, so that one start serves all models.
constexpr double kMostTime = 1e4;

struct Point {
  double batch;  ///< Of a GPU.
  int gpus;
  int nodes;
  double step_s;
};

using Placement = std::pair<int, int>;

Placement placement(const Point& point) { return {point.gpus, point.nodes}; }

/// Which parameters the points tell.
struct Told {
  bool batches = false;
  bool local = false;
  bool local_more = false;
  bool remote = false;
  bool remote_more = false;
  bool remote_spread = false;

  explicit Told(std::span<const Point> points) {
    std::set<double> sizes;
    std::set<int> on_one;
    std::set<int> on_more;
    std::set<int> spreads;
    for (const Point& point : points) {
      sizes.insert(point.batch);
      if (point.gpus > 1) (point.nodes > 1 ? on_more : on_one).insert(point.gpus);
      if (point.nodes > 1) spreads.insert(point.nodes);
    }
    batches = sizes.size() > 1;
    local = !on_one.empty();
    local_more = on_one.size() > 1;
    remote = !on_more.empty();
    remote_more = on_more.size() > 1;
    remote_spread = spreads.size() > 1;
  }
};

/// Returns the step time for the parameters of descend(). Spreading over nodes only adds cost, so
/// it never speeds a job up.
StepTime step_of(std::span<const double> p) {
  return {.fixed = p[0],
          .sample = p[1],
          .local = p[2],
          .local_more = p[3],
          .remote = p[2] + p[4],
          .remote_more = p[3] + p[5],
          .remote_spread = p[6],
          .overlap = p[7]};
}

stats::LeastSquares descend(std::span<const Point> points, const Told& told, double overlap) {
  const auto may = [](bool moves, double start, double most) {
    return moves ? stats::Parameter{start, 0, most} : stats::Parameter{0, 0, 0};
  };
  const bool syncs = told.local || told.remote;
  const std::vector<stats::Parameter> parameters{
      may(told.batches, 0.3, kMostTime),
      {0.7, told.batches ? 0 : 1e-6, kMostTime},
      may(told.local, 0.1, kMostTime),
      may(told.local_more, 0.01, kMostTime),
      may(told.remote, 0.5, kMostTime),
      may(told.remote_more, 0.01, kMostTime),
      may(told.remote_spread, 0.1, kMostTime),
      {overlap, 1, syncs && told.batches ? kMostOverlap : 1}};
  return stats::least_squares(
      parameters, points.size(), [&](std::span<const double> p, std::span<double> errors) {
        const StepTime step = step_of(p);
        for (std::size_t at = 0; at < points.size(); ++at) {
          const Point& point = points[at];
          // A step of no time at all has no logarithm.
          const double step_s = std::max(step(point.batch, point.gpus, point.nodes), 1e-9);
          errors[at] = std::log(step_s / point.step_s);
        }
      });
}

StepTime fit_points(std::vector<Point> points) {
  const Told told(points);
  double shortest_s = points.front().step_s;
  double log_batch = 0;
  for (const Point& point : points) {
    shortest_s = std::min(shortest_s, point.step_s);
    log_batch += std::log(point.batch) / static_cast<double>(points.size());
  }
  const double usual = std::exp(log_batch);
  for (Point& point : points) {
    point.step_s /= shortest_s;
    point.batch /= usual;
  }
  stats::LeastSquares best{.parameters = {}, .sum = std::numeric_limits<double>::infinity()};
  for (const double overlap : {1.0, 2.0, 4.0}) {
    const auto found = descend(points, told, overlap);
    if (found.sum < best.sum) best = found;
  }
  StepTime step = step_of(best.parameters);
  step.fixed *= shortest_s;
  step.sample *= shortest_s / usual;
  for (double StepTime::*const sync : {&StepTime::local, &StepTime::local_more, &StepTime::remote,
                                       &StepTime::remote_more, &StepTime::remote_spread}) {
    step.*sync *= shortest_s;
  }
  if (!told.local) {
    step.local = step.remote;
    step.local_more = step.remote_more;
  }
  return step;
}

double sum_over(std::span<const Point> points, const StepTime& step) {
  double sum = 0;
  for (const Point& point : points) {
    sum += std::pow(std::log(step(point.batch, point.gpus, point.nodes) / point.step_s), 2);
  }
  return sum;
}

double held_out_error(std::span<const Point> points) {
  std::map<Placement, std::size_t> turn_of;
  for (const Point& point : points) turn_of.try_emplace(placement(point), 0);
  if (turn_of.size() < 3) return kNotSaid;
  const std::size_t turns = std::min(kTurns, turn_of.size());
  std::size_t next = 0;
  for (auto& [at, turn] : turn_of) turn = next++ % turns;
  double sum = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    std::vector<Point> others;
    std::vector<Point> held_out;
    for (const Point& point : points) {
      (turn_of[placement(point)] == turn ? held_out : others).push_back(point);
    }
    sum += sum_over(held_out, fit_points(std::move(others)));
  }
  return root_mean(sum, points.size());
}

}  // namespace

Board fit_board(std::span<const Measurement> rows) {
  std::vector<Point> points;
  Board board{.gpu_type = rows.front().gpu_type,
              .source = {},
              .step = {},
              .least_batch = std::numeric_limits<double>::infinity(),
              .most_batch = 0,
              .most_gpus = 1,
              .error = {},
              .sharing = {}};
  for (const Measurement& row : rows) {
    const double batch = row.batch / row.gpus;
    points.push_back({batch, row.gpus, row.nodes, row.batch / row.throughput});
    board.least_batch = std::min(board.least_batch, batch);
    board.most_batch = std::max(board.most_batch, batch);
    board.most_gpus = std::max(board.most_gpus, row.gpus);
  }
  board.step = fit_points(points);
  board.error = {root_mean(sum_over(points, board.step), points.size()), held_out_error(points)};
  return board;
}

}  // namespace almanac::perf
