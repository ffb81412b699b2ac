// SPDX-License-Identifier: Apache-2.0
#include "energy/ces.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

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
              text::meant_or_known(cluster, known));
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

CesLoop::CesLoop(const CesSettings& settings)
    : settings_(settings), stable_(settings.stable_until) {}

CesLoop::Decision CesLoop::step(const CesStep& now, int before) {
  const std::size_t at = used_.size();
  used_.push_back(now.used);
  const int need = now.used + settings_.buffer;
  if (at < kFirstDecision) return {.active = need};
  Decision made{.active = before};
  if (before < now.used) {
    made.lack = now.used - before;
    made.active = need;
    made.change = need - before;
    stable_ = static_cast<std::int64_t>(at) + settings_.keep_steps;
  }
  made.active = std::min(made.active, now.total);
  const auto history = static_cast<std::size_t>(settings_.history_steps);
  const double recent = mean_of(used_, at - std::min(at, history), at) - now.used;
  const double expected = now.used - now.soon;
  if (recent < settings_.history_threshold || expected < settings_.future_threshold) return made;
  if (static_cast<std::int64_t>(at) < stable_) return made;
  stable_ = static_cast<std::int64_t>(at);
  if (now.soon < now.later) return made;  // demand rises again later
  if (made.active - std::min(made.active, need) < settings_.least_change) return made;
  made.active = std::min(made.active, need);
  made.change = made.active - before;
  return made;
}

CesTrack run_ces(std::span<const int> used, std::span<const double> soon,
                 std::span<const double> later, std::span<const int> total,
                 const CesSettings& settings) {
  const std::size_t steps = used.size();
  ALMANAC_CHECK(soon.size() == steps && later.size() == steps && total.size() == steps,
                "{} steps, {} and {} expected, {} total", steps, soon.size(), later.size(),
                total.size());
  CesLoop loop(settings);
  CesTrack track;
  int active = 0;
  for (std::size_t at = 0; at < steps; ++at) {
    const CesStep now{used[at], total[at], soon[at], later[at]};
    const CesLoop::Decision made = loop.step(now, active);
    active = made.active;
    track.active.push_back(made.active);
    track.change.push_back(made.change);
    track.lack.push_back(made.lack);
  }
  return track;
}

}  // namespace almanac::energy
