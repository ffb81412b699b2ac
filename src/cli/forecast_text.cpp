// SPDX-License-Identifier: Apache-2.0
#include "cli/forecast_text.h"

#include <fmt/format.h>

#include "cli/moment.h"
#include "forecast/score.h"

namespace almanac::cli {

using forecast::kSaid;

namespace {

/// The future is not known to the second: times of day are whole minutes, the later one, so that
/// "by then" stays true; times of the trace's own zero are whole seconds.
std::string about(Time at) {
  if (at == kNever) return moment(at);
  const Time minute = std::chrono::ceil<std::chrono::minutes>(at);
  std::string text = moment(minute);
  if (text.ends_with("s")) return moment(std::chrono::ceil<std::chrono::seconds>(at));
  return text.substr(0, text.rfind(':'));
}

}  // namespace

std::string in_words(const forecast::Forecast& forecast, const trace::Request& request) {
  const auto [from, to] = forecast.start(kSaid);
  const std::string start =
      from == to ? fmt::format("starts {}", to == forecast.at() ? "at once" : "at " + about(to))
                 : fmt::format("starts between {} and {}", about(from), about(to));
  std::string text = fmt::format("{} ({:.0f} %), ends by {} with {:.0f} %", start, 100 * kSaid,
                                 about(forecast.ended_by(kSaid)), 100 * kSaid);
  if (request.deadline != kNoTime) {
    text += fmt::format("; the deadline {} is kept with {:.0f} %", moment(request.deadline),
                        100 * forecast.chance_to_end_by(request.deadline));
  }
  return text;
}

std::string in_words(const forecast::OtherGpus& other, const trace::Request& request) {
  std::string text =
      fmt::format("with {} GPU{}: ends by {} with {:.0f} %", other.gpus, other.gpus == 1 ? "" : "s",
                  about(other.forecast.ended_by(kSaid)), 100 * kSaid);
  if (request.deadline != kNoTime) {
    text += fmt::format("; the deadline is kept with {:.0f} %",
                        100 * other.forecast.chance_to_end_by(request.deadline));
  }
  return text;
}

}  // namespace almanac::cli
