// SPDX-License-Identifier: Apache-2.0
#include "study/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "stats/bootstrap.h"
#include "study/duration_cdf.h"
#include "study/job_sizes.h"
#include "study/minutes.h"
#include "text/human.h"

namespace almanac::study {
namespace {

using figure::Figure;
using figure::Unit;

struct Named {
  const Study& study;
  const std::string& name;
};

double change_of(Unit unit, double a, double b) { return unit == Unit::fraction ? b - a : b / a; }

Verdict verdict_of(const Change& change) {
  if (std::isnan(change.low) || std::isnan(change.change)) return Verdict::cannot_tell;
  const double none = change.a.unit == Unit::fraction ? 0 : 1;
  if (change.low > none) return Verdict::more;
  if (change.high < none) return Verdict::less;
  return Verdict::within_chance;
}

std::string value_text(const Measure& measure, double value) {
  if (std::isnan(value)) return "-";
  switch (measure.unit) {
    case Unit::fraction:
      return text::human_share(value);
    case Unit::seconds:
      return text::human_time(value);
    case Unit::gpu_seconds:
      return fmt::format("{} GPU-hours", text::grouped(std::llround(value / 3600)));
    default:
      return value >= 100 ? text::grouped(std::llround(value)) : fmt::format("{:.1f}", value);
  }
}

std::string change_text(const Change& change, double value) {
  if (change.a.unit == Unit::fraction) return fmt::format("{:+.1f} points", 100 * value);
  return fmt::format("{:.2f} times", value);
}

/// Shares change by a difference, everything else by a ratio: a figure each, for the two have no
/// scale in common.
enum class Kind { ratio, difference };

bool is_of(Kind kind, const Change& change) {
  return (change.a.unit == Unit::fraction) == (kind == Kind::difference);
}

const char* id_of(Kind kind) { return kind == Kind::ratio ? "changes" : "changed_shares"; }

Figure changes_figure(Kind kind, const std::vector<Change>& changes, const Named& a,
                      const Named& b) {
  const bool ratio = kind == Kind::ratio;
  Figure figure;
  figure.id = id_of(kind);
  figure.title = ratio ? "Ratios" : "Differences in percentage points";
  figure.caption = fmt::format(
      "Each measure of {} and {}. Change: the second {}, with a 95 % CI from {} bootstrap samples "
      "of the days (or users) of both.",
      a.name, b.name, ratio ? "over the first" : "minus the first", kDraws);
  figure.n = static_cast<std::int64_t>(a.study.gpu_jobs().size() + b.study.gpu_jobs().size());
  auto& label = figure.text("label", "Measure");
  auto& name = figure.text("measure", "Name");
  name.detail = true;
  auto& unit = figure.text("unit", "Unit");
  auto& first = figure.number("a", a.name);
  auto& second = figure.number("b", b.name);
  first.units = unit.name;
  second.units = unit.name;
  const Unit of_change = ratio ? Unit::ratio : Unit::points;
  auto& change = figure.number("change", ratio ? "Ratio" : "Difference", of_change);
  auto& low = figure.number("change_low", "95 % CI, low", of_change);
  auto& high = figure.number("change_high", "95 % CI, high", of_change);
  auto& verdict = figure.text("verdict", "Verdict");
  for (const Change& each : changes) {
    if (!is_of(kind, each)) continue;
    label.add(each.a.label);
    name.add(each.a.name);
    unit.add(figure::to_string(each.a.unit));
    first.add(each.a.value);
    second.add(each.b.value);
    change.add(each.change);
    low.add(each.low);
    high.add(each.high);
    verdict.add(std::string(to_string(each.verdict)));
  }
  figure.charts.push_back({.kind = "interval",
                           .x = "label",
                           .y = {"change"},
                           .x_scale = ratio ? "log" : "linear",
                           .band = {{"change_low", "change_high"}},
                           .references = {{.name = "no change", .x = {}, .y = {ratio ? 1.0 : 0}}}});
  return figure;
}

Figure durations_figure(const std::array<Named, 2>& logs) {
  Figure figure;
  figure.id = "durations";
  figure.title = "Durations of GPU jobs";
  figure.caption = "Cumulative distribution over GPU jobs, at powers of two.";
  auto& log = figure.text("trace", "Trace");
  auto& duration = figure.number("duration_s", "Duration", Unit::seconds);
  auto& fraction = figure.number("fraction", "Share of the jobs", Unit::fraction);
  for (const Named& each : logs) {
    if (each.study.gpu_jobs().empty()) continue;
    const Figure one = duration_cdf(each.study, each.study.gpu_jobs());
    for (std::size_t row = 0; row < one.rows(); ++row) {
      log.add(each.name);
      duration.add(one["duration_s"].numbers[row]);
      fraction.add(one["fraction"].numbers[row]);
    }
  }
  figure.charts.push_back(
      {.kind = "line", .x = "duration_s", .y = {"fraction"}, .by = "trace", .x_scale = "log"});
  return figure;
}

Figure sizes_figure(const std::array<Named, 2>& logs) {
  Figure figure;
  figure.id = "sizes";
  figure.title = "Jobs and GPU time by size";
  figure.caption =
      "Cumulative shares of GPU jobs and of their GPU time, by the number of requested GPUs.";
  auto& log = figure.text("trace", "Trace");
  auto& gpus = figure.text("gpus", "Requested GPUs");
  auto& jobs = figure.number("jobs_fraction", "Share of the jobs", Unit::fraction);
  auto& time = figure.number("gpu_time_fraction", "Share of the GPU time", Unit::fraction);
  for (const Named& each : logs) {
    const SizeCdf count = size_cdf(each.study, [](const trace::Job&) { return 1.0; });
    const SizeCdf gpu_s = size_cdf(each.study, gpu_time);
    for (std::size_t at = 0; at < kSizePoints.size(); ++at) {
      log.add(each.name);
      gpus.add(std::string(kSizePoints[at].name));
      jobs.add(count[at] / count.back());
      time.add(gpu_s[at] / gpu_s.back());
    }
  }
  figure.charts.push_back({.kind = "line", .x = "gpus", .y = {"jobs_fraction"}, .by = "trace"});
  figure.charts.push_back({.kind = "line", .x = "gpus", .y = {"gpu_time_fraction"}, .by = "trace"});
  return figure;
}

figure::Finding finding_of(const Change& change, const Named& a, const Named& b) {
  return {.headline = fmt::format("{}: {} in {}, {} in {}.", change.a.label,
                                  value_text(change.a, change.a.value), a.name,
                                  value_text(change.b, change.b.value), b.name),
          .detail = fmt::format("{} (95 % CI {} to {}).", change_text(change, change.change),
                                change_text(change, change.low), change_text(change, change.high)),
          .figure = id_of(is_of(Kind::ratio, change) ? Kind::ratio : Kind::difference),
          .advice = {}};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::more:
      return "more";
    case Verdict::less:
      return "less";
    case Verdict::within_chance:
      return "within chance";
    case Verdict::cannot_tell:
      return "too little data";
  }
  ALMANAC_CHECK(false, "verdict {}", static_cast<int>(verdict));
}

std::vector<Change> compare(const Study& a, const Study& b) {
  std::vector<Measure> first = measures_of(a);
  std::vector<Measure> second = measures_of(b);
  std::vector<Change> changes;
  for (std::size_t at = 0; at < first.size(); ++at) {
    Change change{.a = std::move(first[at]), .b = std::move(second[at])};
    const Unit unit = change.a.unit;
    change.change = change_of(unit, change.a.value, change.b.value);
    std::vector<double> draws;
    const std::size_t pairs = std::min(change.a.draws.size(), change.b.draws.size());
    for (std::size_t draw = 0; draw < pairs; ++draw) {
      // The first of one goes with the last of the other: the same log twice is not the same draws.
      draws.push_back(change_of(unit, change.a.draws[draw], change.b.draws[pairs - 1 - draw]));
    }
    std::tie(change.low, change.high) = stats::middle_95(draws);
    change.verdict = verdict_of(change);
    changes.push_back(std::move(change));
  }
  return changes;
}

figure::Document draw_comparison(const Study& a, const std::string& a_name, const Study& b,
                                 const std::string& b_name) {
  const std::array<Named, 2> logs{{{a, a_name}, {b, b_name}}};
  const std::vector<Change> changes = compare(a, b);
  figure::Document document;
  document.kind = "traces";
  std::string alike;
  for (const Change& change : changes) {
    if (change.verdict == Verdict::more || change.verdict == Verdict::less) {
      document.findings.push_back(finding_of(change, logs[0], logs[1]));
    } else if (change.verdict == Verdict::within_chance) {
      alike += fmt::format("{}{}", alike.empty() ? "" : "; ", change.a.label);
    }
  }
  if (!alike.empty()) {
    document.findings.push_back({.headline = "Within chance: " + alike + ".",
                                 .detail = {},
                                 .figure = "changes",
                                 .advice = {}});
  }
  document.sections.push_back(
      {.id = "changes",
       .title = "Differences",
       .text = {},
       .figures = {changes_figure(Kind::ratio, changes, logs[0], logs[1]),
                   changes_figure(Kind::difference, changes, logs[0], logs[1])}});
  document.sections.push_back({.id = "jobs",
                               .title = "Jobs",
                               .text = {},
                               .figures = {durations_figure(logs), sizes_figure(logs)}});
  return document;
}

}  // namespace almanac::study
