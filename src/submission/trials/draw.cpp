// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/draw.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace almanac::trials {
namespace {

std::string shown(const Range& range, double value) {
  value = std::clamp(value, range.from, range.to);
  if (range.is_whole) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.6g}", value);
  // Six digits may lie outside a narrow range.
  const double rounded = std::strtod(text.c_str(), nullptr);
  return rounded < range.from || rounded > range.to ? fmt::format("{}", value) : text;
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

/// Each whole number has the room up to the next.
double end_of(const Range& range) { return range.is_whole ? range.to + 1 : range.to; }

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
  if (space.search == Search::grid) return grid(space);
  const bool learns = space.search == Search::tpe;
  const std::int64_t count = learns ? std::min(space.trials, kFirstTrials) : space.trials;
  std::vector<Trial> made;
  for (std::int64_t number = 1; number <= count; ++number) {
    made.push_back(random_trial(space, number));
  }
  return made;
}

Trial random_trial(const Space& space, std::int64_t number) {
  Trial trial{.number = number};
  for (const Parameter& parameter : space.parameters) {
    Rng rng = rng_of(space, number, parameter.name);
    if (const auto* const choices = std::get_if<Choices>(&parameter.values)) {
      trial.values.push_back(choices->values[rng.below(choices->values.size())]);
    } else {
      trial.values.push_back(value_at(std::get<Range>(parameter.values), rng.uniform()));
    }
  }
  return trial;
}

Rng rng_of(const Space& space, std::int64_t number, const std::string& parameter) {
  return Rng(Rng(space.seed, static_cast<std::uint64_t>(number)).next(), stream_of(parameter));
}

bool has_value(const Parameter& parameter, const std::string& value) {
  if (const auto* const choices = std::get_if<Choices>(&parameter.values)) {
    return std::find(choices->values.begin(), choices->values.end(), value) !=
           choices->values.end();
  }
  const Range& range = std::get<Range>(parameter.values);
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= range.from && number <= range.to;
}

std::string value_at(const Range& range, double part) {
  const double value = along(range.from, end_of(range), part, range.is_log);
  return shown(range, range.is_whole ? std::floor(value) : value);
}

double part_of(const Range& range, std::string_view value) {
  const double number = std::strtod(std::string(value).c_str(), nullptr);
  const double from = range.from;
  const double to = end_of(range);
  const auto part = [&](double at) {
    return range.is_log ? std::log(at / from) / std::log(to / from) : (at - from) / (to - from);
  };
  return range.is_whole ? (part(number) + part(number + 1)) / 2 : part(number);
}

}  // namespace almanac::trials
