// SPDX-License-Identifier: Apache-2.0
#include "cli/what_if.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/wall_clock.h"
#include "serve/what_if.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using figure::Cell;
using serve::Shape;

constexpr const char* kLittleHistory =
    "Few jobs like this one have ended, so its run time is partly a guess.\n";
constexpr const char* kUnknownStart =
    "A start is unknown if the job may not start within a year on the nodes in service. Nodes that "
    "are drained, or do not report, are not in service (almanac nodes).\n";

std::string start_text(const service::Expected& expected, Time now) {
  if (expected.start_by == kNoTime) return "unknown";
  return expected.start_by <= expected.at ? "immediately" : clock_text(expected.start_by, now);
}

/// How much earlier than the first it has started with nine in ten.
std::string against_first(const service::Expected& expected, const service::Expected& first) {
  if (expected.start_by == kNoTime || first.start_by == kNoTime) return "";
  const double gain_s = seconds(first.start_by - expected.start_by);
  constexpr double kNoWord_s = 60;
  if (std::abs(gain_s) < kNoWord_s) return "";
  return fmt::format("{} {}", text::human_time(std::abs(gain_s)), gain_s > 0 ? "earlier" : "later");
}

figure::Listing rows_of(const std::vector<Shape>& shapes) {
  const Time now = wall_clock();
  figure::Rows rows(shapes);
  rows.add("vc", "VC", [](const Shape& shape) {
    return Cell(shape.asked.vc, shape.asked.vc.empty() ? "-" : shape.asked.vc);
  });
  rows.add(figure::Tier::key, "gpus", "GPUS", [](const Shape& shape) { return shape.asked.gpus; });
  rows.add(figure::Tier::key, "time_limit_s", "LIMIT", [](const Shape& shape) {
    const Duration limit = shape.asked.time_limit;
    return limit == kNoDuration ? Cell::nothing("none") : Cell(limit);
  });
  rows.add(figure::Tier::data, "start_from_s",
           [](const Shape& shape) { return shape.expected->start_from; });
  rows.add(figure::Tier::data, "start_to_s",
           [](const Shape& shape) { return shape.expected->start_to; });
  rows.add("start_by_s", "START BY (90 %)", [&](const Shape& shape) {
    return Cell(shape.expected->start_by,
                shape.never.empty() ? start_text(*shape.expected, now) : "never");
  });
  rows.add("end_by_s", "END BY (90 %)", [&](const Shape& shape) {
    return Cell(shape.expected->end_by,
                shape.never.empty() ? clock_text(shape.expected->end_by, now) : "never");
  });
  rows.add(figure::Tier::detail, "gain", "VS. FIRST ROW",
           [&](const Shape& shape) {
             return against_first(*shape.expected, *shapes.front().expected);
           })
      .table_only();
  return rows;
}

}  // namespace

Result<int> what_if(const ServiceOptions& service, const serve::WhatIf& what,
                    const ListOptions& list) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto shapes = serve::foresee(*client, what, wall_clock());
  if (!shapes) return tl::unexpected(shapes.error());
  for (const Shape& shape : *shapes) {
    if (shape.never.empty()) continue;
    note(fmt::format("with {}, {}",
                     text::counted(static_cast<std::uint64_t>(shape.asked.gpus), "GPU"),
                     shape.never));
  }
  const bool is_guess = std::any_of(shapes->begin(), shapes->end(), [](const Shape& shape) {
    return shape.expected && shape.expected->has_little_history();
  });
  const bool is_unknown = std::any_of(shapes->begin(), shapes->end(), [](const Shape& shape) {
    return shape.never.empty() && shape.expected && shape.expected->start_by == kNoTime;
  });
  return list.print(
      rows_of(*shapes),
      std::string(is_guess ? kLittleHistory : "") + (is_unknown ? kUnknownStart : "") +
          "START BY and END BY are separate: each is met with 90 % probability, so END BY is not "
          "START BY plus a run time.\n"
          "Assumes submission now and no later jobs; the run time is estimated from "
          "similar jobs. Tenant limits and announced maintenance are included, Slurm's quotas and "
          "reservations are not.\n");
}

}  // namespace almanac::cli
