// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/alarm.h"

#include <algorithm>

#include <fmt/format.h>

#include "kube/left_alone.h"

namespace almanac::steer_kube {
namespace {

/// Why a line gets no order; "" if it does.
std::string why_alone(const Line& line, const Settings& settings, const std::string& rests) {
  if (settings.order != service::Switch::on) {
    return fmt::format("lever order is {}", to_string(settings.order));
  }
  return line.obstacle.empty() ? rests : line.obstacle;
}

}  // namespace

std::vector<std::string> alarms_of(const std::vector<Line>& lines, const Settings& settings,
                                   const std::string& rests) {
  std::vector<std::string> made;
  for (const Line& line : lines) {
    if (!line.is_strict) continue;
    const std::string why = why_alone(line, settings, rests);
    if (!why.empty()) made.push_back(kube::left_alone(line.queue, why));
  }
  return made;
}

std::vector<std::string> notes_of(const kube::Picture& picture, const Settings& settings) {
  std::vector<std::string> made;
  for (const kueue::ClusterQueue& queue : picture.objects.setup.queues) {
    if (!settings.backfill.contains(queue.name)) continue;
    made.push_back(
        queue.is_strict
            ? fmt::format(
                  "queue {} is StrictFIFO: if Almanac stops, its workloads wait several "
                  "times as long as by Kueue's default (8 times in a simulated month of Venus). To "
                  "end that: {}",
                  queue.name, kube::strategy_command(queue.name, "BestEffortFIFO"))
            : fmt::format("queue {} is BestEffortFIFO, so nothing is reserved there. Backfill "
                          "begins with: {}",
                          queue.name, kube::strategy_command(queue.name, "StrictFIFO")));
  }
  return made;
}

std::vector<service::LeverView> backfill_views(const std::vector<Line>& lines,
                                               const Settings& settings, const std::string& rests) {
  const bool has_strict =
      std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.is_strict; });
  if (!has_strict) return {};
  service::LeverView made{.name = "backfill", .how = settings.order};
  const std::vector<std::string> alarms = alarms_of(lines, settings, rests);
  if (!alarms.empty()) made.rests = alarms.front();
  return {made};
}

}  // namespace almanac::steer_kube
