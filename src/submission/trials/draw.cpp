// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/draw.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/rng.h"

namespace almanac::trials {
namespace {

std::string shown(const Range& range, double value) {
  value = std::clamp(value, range.from, range.to);
  return range.is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

/// `part` of the way through the range, 0 to 1.
double along(double from, double to, double part, bool is_log) {
  return is_log ? from * std::pow(to / from, part) : from + (to - from) * part;
}

/// FNV-1a: the same on every machine, as std::hash is not.
std::uint64_t stream_of(const std::string& name) {
  std::uint64_t made = 0xcbf29ce484222325ULL;
  for (const char c : name) made = (made ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return made;
}

std::string drawn(const Range& range, Rng& rng) {
  // Each whole number has the room up to the next.
  const double to = range.is_whole ? range.to + 1 : range.to;
  const double value = along(range.from, to, rng.uniform(), range.is_log);
  return shown(range, range.is_whole ? std::floor(value) : value);
}

std::vector<std::string> points(const Parameter& parameter) {
  if (const auto* const choices = std::get_if<Choices>(&parameter.values)) return choices->values;
  const Range& range = std::get<Range>(parameter.values);
  std::vector<std::string> made;
  const std::int64_t all = static_cast<std::int64_t>(range.to - range.from) + 1;
  const std::int64_t count = range.points > 0 ? range.points : all;
  for (std::int64_t at = 0; at < count; ++at) {
    const double part =
        static_cast<double>(at) / static_cast<double>(std::max<std::int64_t>(1, count - 1));
    const bool is_each = range.points == 0;
    std::string point = shown(range, is_each ? range.from + static_cast<double>(at)
                                             : along(range.from, range.to, part, range.is_log));
    // Whole numbers of a logarithmic range may fall together at its beginning.
    if (made.empty() || made.back() != point) made.push_back(std::move(point));
  }
  return made;
}

std::vector<Trial> grid(const Space& space) {
  std::vector<Trial> made{{}};
  for (const Parameter& parameter : space.parameters) {
    std::vector<Trial> longer;
    for (const Trial& each : made) {
      for (const std::string& point : points(parameter)) {
        longer.push_back(each);
        longer.back().values.push_back(point);
      }
    }
    made = std::move(longer);
  }
  for (std::size_t at = 0; at < made.size(); ++at)
    made[at].number = static_cast<std::int64_t>(at) + 1;
  return made;
}

}  // namespace

std::vector<Trial> draw(const Space& space) {
  if (space.is_grid) return grid(space);
  std::vector<Trial> made;
  for (std::int64_t number = 1; number <= space.trials; ++number) {
    Trial& trial = made.emplace_back(Trial{.number = number});
    for (const Parameter& parameter : space.parameters) {
      Rng rng(Rng(space.seed, static_cast<std::uint64_t>(number)).next(),
              stream_of(parameter.name));
      if (const auto* const choices = std::get_if<Choices>(&parameter.values)) {
        trial.values.push_back(choices->values[rng.below(choices->values.size())]);
      } else {
        trial.values.push_back(drawn(std::get<Range>(parameter.values), rng));
      }
    }
  }
  return made;
}

}  // namespace almanac::trials
