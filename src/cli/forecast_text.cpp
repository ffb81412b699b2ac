// SPDX-License-Identifier: Apache-2.0
#include "cli/forecast_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "forecast/score.h"
#include "text/moment.h"

namespace almanac::cli {

using forecast::kSaid;

namespace {

/// The future is not known to the second: times of day are whole minutes, the later one, so that
/// "by then" stays true; times of the trace's own zero are whole seconds.
std::string about(Time at) {
  if (at == kNever) return text::moment(at);
  const Time minute = std::chrono::ceil<std::chrono::minutes>(at);
  std::string text = text::moment(minute);
  if (text.ends_with("s")) return text::moment(std::chrono::ceil<std::chrono::seconds>(at));
  return text.substr(0, text.rfind(':'));
}

/// Whether the start is told no better than "soon or in days".
bool is_vague(const forecast::Forecast& forecast) {
  const auto [from, to] = forecast.start(kSaid);
  if (to == kNever) return true;
  constexpr double kMost = 100;
  const Duration soonest = std::max(from - forecast.at(), Duration{1min});
  return to - forecast.at() > 24h && seconds(to - forecast.at()) > kMost * seconds(soonest);
}

}  // namespace

std::string in_words(const forecast::Forecast& forecast, const trace::Request& request) {
  const auto [from, to] = forecast.start(kSaid);
  const std::string start =
      from == to ? fmt::format("starts {}", to == forecast.at() ? "immediately" : "at " + about(to))
                 : fmt::format("starts between {} and {}", about(from), about(to));
  // The same probability as for the latest start, so that no end is before that.
  constexpr double kByThen = (1 + kSaid) / 2;
  const std::string end = about(forecast.ended_by(kByThen));
  std::string text =
      is_vague(forecast)
          ? fmt::format("unpredictable: too few similar jobs had ended (latest possible end: {})",
                        end)
          : fmt::format("{} ({:.0f} % likely) and ends by {} ({:.0f} %)", start, 100 * kSaid, end,
                        100 * kByThen);
  if (request.deadline != kNoTime) {
    text += fmt::format("; meets its deadline {} with {:.0f} % probability",
                        text::moment(request.deadline),
                        100 * forecast.chance_to_end_by(request.deadline));
  }
  return text;
}

std::string in_words(const forecast::OtherGpus& other, const trace::Request& request) {
  std::string text =
      fmt::format("with {} GPU{}: ends by {} ({:.0f} % likely)", other.gpus,
                  other.gpus == 1 ? "" : "s", about(other.forecast.ended_by(kSaid)), 100 * kSaid);
  if (request.deadline != kNoTime) {
    text += fmt::format("; meets its deadline with {:.0f} % probability",
                        100 * other.forecast.chance_to_end_by(request.deadline));
  }
  return text;
}

}  // namespace almanac::cli
