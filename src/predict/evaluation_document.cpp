// SPDX-License-Identifier: Apache-2.0
#include "predict/evaluation_document.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "table/digest.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::predict {
namespace {

using figure::Figure;
using figure::Unit;

Figure draw_estimators(const Evaluation& evaluation) {
  Figure made{.id = "prediction_estimators",
              .title = "Comparison of estimators",
              .caption =
                  "Error: the median of |log10(predicted / true)|; 0.3 is a factor of two. Rank "
                  "correlation: Spearman's, between predicted and true GPU time. Within 90 %: "
                  "fraction of jobs inside the 90 % prediction interval.",
              .n = static_cast<std::int64_t>(evaluation.jobs.size())};
  auto& name = made.text("estimator", "Estimator");
  auto& error = made.number("median_abs_log10_error", "Typical error, in powers of ten");
  auto& rank = made.number("spearman_gpu_time", "Rank correlation");
  auto& coverage = made.number("coverage_90", "Within 90 %", Unit::fraction);
  auto& width = made.number("interval_width_log10", "Width of the interval, decades");
  auto& mae = made.number("mae_s", "Mean absolute error", Unit::seconds);
  for (const Tried& tried : evaluation.estimators) {
    const Score got = score(evaluation, tried, all_tested(evaluation));
    name.add(tried.name);
    error.add(got.median_abs_log10_error);
    rank.add(got.spearman_gpu_time);
    coverage.add(got.coverage_90);
    width.add(got.interval_width);
    mae.add(got.mae_s);
  }
  made.charts.push_back(
      {.kind = "bar", .title = "Error", .x = "estimator", .y = {"median_abs_log10_error"}});
  made.charts.push_back(
      {.kind = "bar", .title = "Order", .x = "estimator", .y = {"spearman_gpu_time"}});
  return made;
}

Figure draw_groups(const Evaluation& evaluation) {
  Figure made{.id = "prediction_groups",
              .title = "Error by group of jobs",
              .caption =
                  "Median of |log10(predicted / true)| over the jobs of a group. The run time is "
                  "the true one, which no estimator knows.",
              .n = static_cast<std::int64_t>(evaluation.jobs.size())};
  auto& by = made.text("by", "By");
  auto& group = made.text("group", "Group");
  auto& estimator = made.text("estimator", "Estimator");
  auto& jobs = made.number("jobs", "Jobs", Unit::jobs);
  auto& error = made.number("median_abs_log10_error", "Typical error, in powers of ten");
  auto& coverage = made.number("coverage_90", "Within 90 %", Unit::fraction);
  for (const Group& each : groups(evaluation)) {
    for (const Tried& tried : evaluation.estimators) {
      const Score got = score(evaluation, tried, each.jobs);
      by.add(each.by);
      group.add(each.name);
      estimator.add(tried.name);
      jobs.add(static_cast<double>(got.jobs));
      error.add(got.median_abs_log10_error);
      coverage.add(got.coverage_90);
    }
  }
  made.charts.push_back({.kind = "bar",
                         .x = "group",
                         .y = {"median_abs_log10_error"},
                         .by = "estimator",
                         .choose = {"by"}});
  return made;
}

Figure draw_calibration(const Evaluation& evaluation) {
  Figure made{.id = "prediction_calibration",
              .title = "Calibration",
              .caption =
                  "Fraction of jobs that ran no longer than the predicted quantile. On the "
                  "diagonal, a predicted 70 % is 70 %.",
              .n = static_cast<std::int64_t>(evaluation.jobs.size())};
  auto& said = made.number("predicted", "Predicted quantile", Unit::fraction);
  auto& seen = made.number("observed", "Fraction of jobs", Unit::fraction);
  auto& ideal = made.number("ideal", "Ideal", Unit::fraction);
  std::vector<double> positions;
  for (const Forecast& each : evaluation.estimators.front().forecasts) {
    positions.push_back(each.position);
  }
  std::sort(positions.begin(), positions.end());
  for (int percent = 0; percent <= 100; percent += 5) {
    const double share = percent / 100.0;
    const auto above = std::upper_bound(positions.begin(), positions.end(), share);
    said.add(share);
    seen.add(static_cast<double>(above - positions.begin()) /
             static_cast<double>(positions.size()));
    ideal.add(share);
  }
  made.charts.push_back({.kind = "line", .x = "predicted", .y = {"observed", "ideal"}});
  return made;
}

/// The best of the simple estimators by a figure.
template <typename Better>
std::pair<std::string, Score> best_simple(const Evaluation& evaluation, Better better) {
  constexpr std::size_t kFirstSimple = 3;
  std::pair<std::string, Score> best;
  for (std::size_t at = kFirstSimple; at < evaluation.estimators.size(); ++at) {
    const Tried& tried = evaluation.estimators[at];
    const Score got = score(evaluation, tried, all_tested(evaluation));
    if (best.first.empty() || better(got, best.second)) best = {tried.name, got};
  }
  return best;
}

std::vector<figure::Finding> findings(const Evaluation& evaluation) {
  const Score learned = score(evaluation, evaluation.estimators.front(), all_tested(evaluation));
  const auto error = best_simple(evaluation, [](const Score& a, const Score& b) {
    return a.median_abs_log10_error < b.median_abs_log10_error;
  });
  const auto rank = best_simple(evaluation, [](const Score& a, const Score& b) {
    return a.spearman_gpu_time > b.spearman_gpu_time;
  });
  const double less = 1 - learned.median_abs_log10_error / error.second.median_abs_log10_error;
  return {{.headline = fmt::format("half of the run times are predicted within a factor of {:.1f}",
                                   std::pow(10.0, learned.median_abs_log10_error)),
           .detail = fmt::format("The median error is {:.3f} decades, {} {} than that of the best "
                                 "simple estimate ({}: {:.3f}).",
                                 learned.median_abs_log10_error, text::human_share(std::abs(less)),
                                 less >= 0 ? "less" : "more", error.first,
                                 error.second.median_abs_log10_error),
           .figure = "prediction_estimators"},
          {.headline = fmt::format("the rank correlation of predicted and true GPU time is {:.2f}",
                                   learned.spearman_gpu_time),
           .detail = fmt::format("The best simple estimate reaches {:.2f} ({}).",
                                 rank.second.spearman_gpu_time, rank.first),
           .figure = "prediction_estimators"},
          {.headline = fmt::format("{} of the jobs end inside the 90 % prediction interval",
                                   text::human_share(learned.coverage_90)),
           .detail = fmt::format("The median width of the interval is {:.1f} decades.",
                                 learned.interval_width),
           .figure = "prediction_calibration"}};
}

}  // namespace

figure::Document evaluation_document(const trace::Trace& trace, const Evaluation& evaluation) {
  figure::Document made;
  made.kind = "prediction";
  made.title = trace.path.substr(trace.path.rfind('/') + 1);
  made.subtitle = fmt::format("{} run times predicted",
                              text::grouped(static_cast<std::int64_t>(evaluation.jobs.size())));
  made.facts = {{"jobs tested", text::grouped(static_cast<std::int64_t>(evaluation.jobs.size()))},
                {"tested from", text::format_datetime(evaluation.from)},
                {"models fitted", fmt::format("{}", evaluation.fits)}};
  made.findings = findings(evaluation);
  made.sections.push_back({.id = "estimators",
                           .title = "Accuracy of run time predictions",
                           .figures = {draw_estimators(evaluation), draw_groups(evaluation)}});
  made.sections.push_back({.id = "calibration",
                           .title = "Calibration of predicted probabilities",
                           .figures = {draw_calibration(evaluation)}});
  made.notes = trace.notes;
  made.provenance = {
      .trace = trace.path,
      .sha256 = trace.sha256,
      .filter = "submitted from " + text::format_datetime(evaluation.from),
      .jobs = static_cast<std::int64_t>(trace.jobs.size()),
      .hash = table::sha256(trace.sha256 + text::format_datetime(evaluation.from)).substr(0, 16)};
  return made;
}

}  // namespace almanac::predict
