// SPDX-License-Identifier: Apache-2.0
#include "energy/ces.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "text/nearest.h"

namespace almanac::energy {
namespace {

constexpr std::size_t kFirstDecision = 6;

constexpr std::array<std::pair<std::string_view, CesSettings>, 5> kProfiles = {{
    {"venus", {3, 18, 0.5, 1, 2, 5, 12, 0}},
    {"earth", {6, 18, 1, 1, 5, 5, 12, 1}},
    {"saturn", {6, 18, 1, 1, 1, 5, 12, 0}},
    {"uranus", {3, 18, 1, 1, 1, 7, 12, 1}},
    {"philly", {2, 30, 0.1, 0, 1, 20, 10, 0}},
}};

/// The mean of values [from, until), cut at the end of the series.
double mean_of(std::span<const int> values, std::size_t from, std::size_t until) {
  until = std::min(until, values.size());
  double sum = 0;
  for (std::size_t at = from; at < until; ++at) sum += values[at];
  return sum / static_cast<double>(until - from);
}

}  // namespace

Result<CesSettings> ces_profile(std::string_view cluster) {
  for (const auto& [name, settings] : kProfiles) {
    if (name == cluster) return settings;
  }
  const std::vector<std::string> known = ces_profiles();
  return fail(Code::usage, fmt::format("no constants are known for cluster \"{}\"", cluster), {},
              fmt::format("known: {}", fmt::join(known, ", ")));
}

std::vector<std::string> ces_profiles() {
  std::vector<std::string> names;
  for (const auto& [name, settings] : kProfiles) names.emplace_back(name);
  return names;
}

CesTrack run_ces(std::span<const int> used, std::span<const int> predicted,
                 std::span<const int> total, const CesSettings& settings) {
  const auto future = static_cast<std::size_t>(settings.future_steps);
  std::vector<double> soon;
  std::vector<double> later;
  for (std::size_t at = 0; at < predicted.size(); ++at) {
    soon.push_back(mean_of(predicted, at, at + future));
    later.push_back(mean_of(predicted, at, at + 2 * future));
  }
  return run_ces(used, soon, later, total, settings);
}

CesTrack run_ces(std::span<const int> used, std::span<const double> soon,
                 std::span<const double> later, std::span<const int> total,
                 const CesSettings& settings) {
  const std::size_t steps = used.size();
  ALMANAC_CHECK(soon.size() == steps && later.size() == steps && total.size() == steps,
                "{} steps, {} and {} expected, {} total", steps, soon.size(), later.size(),
                total.size());
  const auto history = static_cast<std::size_t>(settings.history_steps);
  CesTrack track{.active = std::vector<int>(steps),
                 .change = std::vector<int>(steps),
                 .lack = std::vector<int>(steps)};
  auto stable = static_cast<std::int64_t>(settings.stable_until);
  for (std::size_t at = 0; at < steps; ++at) {
    const int need = used[at] + settings.buffer;
    int& active = track.active[at];
    if (at < kFirstDecision) {
      active = need;
      continue;
    }
    const int before = track.active[at - 1];
    active = before;
    if (active < used[at]) {
      track.lack[at] = used[at] - active;
      active = need;
      track.change[at] = active - before;
      stable = static_cast<std::int64_t>(at) + settings.keep_steps;
    }
    active = std::min(active, total[at]);
    const double recent = mean_of(used, at - std::min(at, history), at) - used[at];
    if (recent < settings.history_threshold || used[at] - soon[at] < settings.future_threshold)
      continue;
    if (static_cast<std::int64_t>(at) < stable) continue;
    stable = static_cast<std::int64_t>(at);
    if (soon[at] < later[at]) continue;  // demand rises again later
    if (active - std::min(active, need) < settings.least_change) continue;
    active = std::min(active, need);
    track.change[at] = active - before;
  }
  return track;
}

CesFigures ces_figures(const CesTrack& track, std::span<const int> used, std::span<const int> total,
                       int steps_a_day) {
  CesFigures figures;
  const auto steps = static_cast<double>(used.size());
  double woken = 0;
  for (std::size_t at = 0; at < used.size(); ++at) {
    figures.nodes_asleep += (total[at] - track.active[at]) / steps;
    figures.utilization_before += 100.0 * used[at] / total[at] / steps;
    figures.utilization_after += 100.0 * used[at] / track.active[at] / steps;
    if (track.change[at] > 0) {
      ++figures.wake_ups;
      woken += track.change[at];
    }
  }
  figures.wake_ups_a_day = figures.wake_ups * steps_a_day / steps;
  if (figures.wake_ups > 0) figures.nodes_a_wake_up = woken / figures.wake_ups;
  return figures;
}

}  // namespace almanac::energy
