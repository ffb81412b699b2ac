// SPDX-License-Identifier: Apache-2.0
#include "perf/fit_rate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stats/quantile.h"
#include "support/shared_data.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::perf {
namespace {

TEST(FitCurve, RecoversWhatMadeThePoints) {
  const BatchCurve forms[] = {Saturating{35, 3}, Quadratic{{5, 2, -0.01}},
                              QuadraticLog{{8, 5, -0.2}}, RateTable{{1, 4, 64}, {9, 20, 35}}};
  for (const BatchCurve& made : forms) {
    std::vector<RatePoint> points;
    for (const double batch : {1, 2, 4, 8, 16, 32, 64}) points.push_back({batch, {}, made(batch)});
    const auto form = static_cast<CurveForm>(made.form().index());
    const BatchCurve found = fit_curve(form, points);
    EXPECT_EQ(found.form().index(), made.form().index());
    for (const RatePoint& point : points) {
      EXPECT_NEAR(found(point.batch) / point.rate, 1, 1e-4) << made.form().index();
    }
  }
}

TEST(FitComm, RecoversWhatMadeThePoints) {
  for (const auto form : {Comm::Form::nodiv, Comm::Form::printed, Comm::Form::sync}) {
    const GenieRate made{Saturating{35, 3}, {form, 0.4, 0.7}};
    std::vector<RatePoint> points;
    for (const Shape shape : {Shape{1, 2}, {1, 4}, {2, 1}, {4, 1}}) {
      points.push_back({64, shape, made(64, shape)});
    }
    const CommPoints task[] = {{&made.one_gpu, points}};
    const Comm found = fit_comm(form, task);
    EXPECT_NEAR(found.gamma, 0.4, 1e-4);
    EXPECT_NEAR(found.lambda, 0.7, 1e-3);
  }
}

TEST(FitComm, IsNothingWithoutPointsOfMoreGpus) {
  const BatchCurve curve = Saturating{35, 3};
  const CommPoints task[] = {{&curve, {{64, {1, 1}, 30}}}};
  EXPECT_EQ(fit_comm(Comm::Form::nodiv, task).gamma, 0);
}

// Figure 4(a) of the paper: Inception-v3 at batch 16, in training and in inference.
TEST(FitStartup, FindsThePapers) {
  const std::vector<TimedRun> runs[] = {
      {{500, 296.0}, {1000, 561.6}, {1500, 827.5}, {2000, 1093.1}},
      {{500, 110.8}, {1000, 191.3}, {1500, 272.0}, {2000, 352.5}}};
  EXPECT_NEAR(fit_startup(runs), 30.3, 0.5);
}

/// Figure 8 of the paper: 45 and 54 placements.
class Figure8 : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = shared_path("golden/genie/fig8_table.csv");
    if (!path) GTEST_SKIP() << "Figure 8 (golden/genie/fig8_table.csv) is not at hand";
    auto csv = table::CsvReader::open(*path, ',').value();
    while (csv.next().value()) {
      const auto number = [&](const char* column) {
        return text::parse_decimal(csv[*csv.find(column)]).value();
      };
      points_[std::string(csv[*csv.find("model")])].push_back(
          {number("global_batch"),
           {number("nodes"), number("gpus_per_node")},
           number("measured_img_s")});
    }
  }

  /// The runs that profiling does: one GPU at each batch, and at the largest batch 2 and 4 GPUs of
  /// one node, and one of 2 and 4 nodes.
  static bool is_profiled(const RatePoint& point, double largest) {
    const Shape& shape = point.shape;
    return shape.gpus() == 1 ||
           (point.batch == largest && (shape.nodes == 1 || shape.gpus_per_node == 1));
  }

  static double largest_batch(const std::vector<RatePoint>& all) {
    return std::max_element(
               all.begin(), all.end(),
               [](const RatePoint& a, const RatePoint& b) { return a.batch < b.batch; })
        ->batch;
  }

  static GenieRate profiled(const std::vector<RatePoint>& all, CurveForm curve, Comm::Form comm) {
    const double largest = largest_batch(all);
    std::vector<RatePoint> alone;
    std::vector<RatePoint> together;
    for (const RatePoint& point : all) {
      if (is_profiled(point, largest))
        (point.shape.gpus() == 1 ? alone : together).push_back(point);
    }
    EXPECT_EQ(together.size(), 4U);
    GenieRate rate{fit_curve(curve, alone), {}};
    const CommPoints task[] = {{&rate.one_gpu, together}};
    rate.comm = fit_comm(comm, task);
    return rate;
  }

  /// The errors of the placements that give a GPU at least so many samples, all or the unseen ones.
  static std::vector<double> errors(const std::vector<RatePoint>& all, const GenieRate& rate,
                                    double least, bool unseen = false) {
    std::vector<double> found;
    for (const RatePoint& point : all) {
      if (point.batch / point.shape.gpus() < least) continue;
      if (unseen && is_profiled(point, largest_batch(all))) continue;
      found.push_back(std::abs(rate(point.batch, point.shape) / point.rate - 1));
    }
    return found;
  }
  static double median_error(const std::vector<RatePoint>& all, const GenieRate& rate, double least,
                             bool unseen = false) {
    std::vector<double> found = errors(all, rate, least, unseen);
    return stats::quantile(found, 0.5);
  }

  std::map<std::string, std::vector<RatePoint>> points_;
};

TEST_F(Figure8, IsPredictedFromElevenRuns) {
  for (const auto& [model, points] : points_) {
    const GenieRate rate = profiled(points, CurveForm::saturating, Comm::Form::nodiv);
    EXPECT_LE(median_error(points, rate, 4), 0.10) << model;
  }
}

TEST_F(Figure8, IsPredictedBetterWhereWaitingTakesTime) {
  for (const auto& [model, points] : points_) {
    const GenieRate rate = profiled(points, CurveForm::saturating, Comm::Form::sync);
    EXPECT_LT(median_error(points, rate, 4), 0.07) << model;
  }
}

// Why a curve that saturates is the default. Prints the table of docs/guide/qos.md.
TEST_F(Figure8, IsPredictedWorseByTheParabola) {
  fmt::print("{:<14} {:<8} {:<10} {:>9} {:>6} {:>6} {:>17} {:>6}\n", "one GPU", "Comm", "model",
             "4 or more", "all", "unseen", "unseen, 4 or more", "mean");
  std::map<std::pair<std::size_t, std::string>, double> medians;
  for (std::size_t curve = 0; curve < kCurveForms.size(); ++curve) {
    for (std::size_t comm = 0; comm < kCommForms.size(); ++comm) {
      for (const auto& [model, points] : points_) {
        const GenieRate rate =
            profiled(points, static_cast<CurveForm>(curve), static_cast<Comm::Form>(comm));
        const std::vector<double> all = errors(points, rate, 0);
        fmt::print(
            "{:<14} {:<8} {:<10} {:>7.1f} % {:>4.1f} % {:>4.1f} % {:>15.1f} % {:>4.1f} %\n",
            kCurveForms[curve], kCommForms[comm], model, 100 * median_error(points, rate, 4),
            100 * median_error(points, rate, 0), 100 * median_error(points, rate, 0, true),
            100 * median_error(points, rate, 4, true),
            100 * std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size()));
        if (comm == 0) medians[{curve, model}] = median_error(points, rate, 4);
      }
    }
  }
  for (const auto& [model, points] : points_) {
    EXPECT_LT((medians[{0, model}]), (medians[{1, model}])) << model;
  }
}

TEST_F(Figure8, IsNotPredictedByTheEquationAsPrinted) {
  for (const auto& [model, points] : points_) {
    const GenieRate printed = profiled(points, CurveForm::saturating, Comm::Form::printed);
    const GenieRate nodiv = profiled(points, CurveForm::saturating, Comm::Form::nodiv);
    EXPECT_GT(median_error(points, printed, 1), 1.5 * median_error(points, nodiv, 1)) << model;
  }
}

}  // namespace
}  // namespace almanac::perf
