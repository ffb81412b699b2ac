// SPDX-License-Identifier: Apache-2.0
#include "report/fill_document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "report/shown_command.h"
#include "stats/mean.h"
#include "table/digest.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using fragment::Curve;
using fragment::kPoints;

/// Demand in percent at which it equals the GPUs.
constexpr std::size_t kFull = 100;

struct Shown {
  const char* id;
  const char* title;
  const char* column;
  const char* caption;
  std::array<double, kPoints> Curve::*of;
};
constexpr std::array kMeasures{
    Shown{"fill_allocated", "Allocated GPUs", "allocated_percent",
          "Share of all GPUs, by the number of GPUs that the arrived jobs request.",
          &Curve::allocated},
    Shown{"fill_fragments", "Fragmented GPUs", "fragments_percent",
          "Share of all GPUs that the next job is expected to be unable to use.",
          &Curve::fragments},
    Shown{"fill_of_the_idle", "Fragmented share of the idle GPUs", "of_the_idle_percent",
          "Fragmented GPUs as a share of the idle GPUs.", &Curve::of_the_idle}};

figure::Figure draw(const Shown& shown, const std::vector<FilledBy>& filled) {
  figure::Figure figure{.id = shown.id, .title = shown.title};
  figure.caption = shown.caption;
  figure.source = "Weng et al., ATC'23, section 6";
  auto& demand = figure.number("demand_percent", "Requested GPUs", figure::Unit::percent);
  auto& placement = figure.text("placement", "Placement");
  auto& value = figure.number(shown.column, shown.title, figure::Unit::percent);
  for (const FilledBy& each : filled) {
    for (std::size_t point = 0; point < kPoints; ++point) {
      demand.add(static_cast<double>(point));
      placement.add(each.placement);
      value.add((each.curve.*shown.of)[point]);
    }
  }
  figure.charts.push_back(
      {.kind = "line", .x = "demand_percent", .y = {shown.column}, .by = "placement"});
  return figure;
}

figure::Figure table(const std::vector<FilledBy>& filled) {
  figure::Figure figure{.id = "fill_points", .title = "Allocation at selected demands"};
  figure.caption = "Share of all GPUs allocated at each demand.";
  auto& placement = figure.text("placement", "Placement");
  for (const FilledBy& each : filled) placement.add(each.placement);
  for (const std::size_t point : {50, 80, 90, 100, 110, 130}) {
    auto& column = figure.number(fmt::format("at_{}_percent", point), fmt::format("{} %", point),
                                 figure::Unit::percent);
    for (const FilledBy& each : filled) column.add(each.curve.allocated[point]);
  }
  return figure;
}

}  // namespace

Curve mean_of(std::vector<Curve> curves) {
  for (Curve& curve : curves) {
    // Nothing is given before the first arrival, and each measure stays until the next: on a small
    // cluster an arrival is many percent of its GPUs.
    if (!std::isfinite(curve.allocated[0])) curve.allocated[0] = 0;
    for (const Shown& shown : kMeasures) {
      std::array<double, kPoints>& values = curve.*shown.of;
      for (std::size_t point = 1; point < kPoints; ++point) {
        if (!std::isfinite(values[point])) values[point] = values[point - 1];
      }
    }
  }
  Curve mean;
  for (const Shown& shown : kMeasures) {
    for (std::size_t point = 0; point < kPoints; ++point) {
      std::vector<double> values;
      for (const Curve& curve : curves) {
        const double value = (curve.*shown.of)[point];
        if (std::isfinite(value)) values.push_back(value);
      }
      (mean.*shown.of)[point] = fragment::rounded(stats::mean(values), 4);
    }
  }
  return mean;
}

figure::Document fill_document(const FillInput& input, const std::vector<FilledBy>& filled,
                               const std::vector<std::string>& command) {
  figure::Document document;
  document.kind = "fill";
  document.title = std::filesystem::path(input.trace).filename().string();
  document.subtitle = fmt::format(
      "jobs arrive on {} of {} and none leaves; each number is the mean of {} order{} of arrival",
      text::counted(static_cast<std::uint64_t>(input.gpus), "GPU"),
      text::counted(static_cast<std::uint64_t>(input.nodes), "node"), input.orders,
      input.orders == 1 ? "" : "s");
  const std::size_t in_log = input.jobs + input.left_out;
  document.facts = {{in_log == 1 ? "job in the log" : "jobs in the log",
                     text::grouped(static_cast<std::int64_t>(in_log))},
                    {"placements", std::to_string(filled.size())}};
  std::vector<const FilledBy*> best_first;
  for (const FilledBy& each : filled) best_first.push_back(&each);
  std::stable_sort(best_first.begin(), best_first.end(), [](const auto* one, const auto* other) {
    return one->curve.allocated[kFull] > other->curve.allocated[kFull];
  });
  for (const FilledBy* const each : best_first) {
    const double given = each->curve.allocated[kFull];
    document.findings.push_back(
        {.headline = fmt::format(
             "{} allocates {:.2f} % of the GPUs if the jobs request as many as there are.",
             each->placement, given),
         .detail =
             fmt::format("{:.0f} GPUs stay idle, and the next job is expected to be unable to use "
                         "{:.0f} % of them.",
                         (1 - given / 100) * input.gpus, each->curve.of_the_idle[kFull]),
         .figure = "fill_allocated",
         .advice = {}});
  }
  document.findings.push_back(
      {.headline = fmt::format("No placement can allocate more than {:.2f} % at that demand.",
                               input.most_given),
       .detail =
           "This is the bound of a linear program that may reject any job. What is achievable is "
           "lower.",
       .figure = "fill_allocated",
       .advice = {}});
  if (input.left_out > 0) {
    document.notes.push_back(fmt::format("{} left out because no node has room for {}.",
                                         text::counted(input.left_out, "job is", "jobs are"),
                                         input.left_out == 1 ? "it" : "any of them"));
  }
  figure::Section curves{.id = "curves", .title = "By demand", .text = {}};
  for (const Shown& shown : kMeasures) curves.figures.push_back(draw(shown, filled));
  curves.figures.push_back(table(filled));
  document.sections.push_back(std::move(curves));
  document.provenance = {
      .trace = input.trace,
      .sha256 = {},
      .filter = {},
      .jobs = static_cast<std::int64_t>(input.jobs),
      .hash = table::sha256(input.cluster + shown_command(command)).substr(0, 16),
      .version = ALMANAC_VERSION,
      .command = shown_command(command)};
  return document;
}

}  // namespace almanac::report
