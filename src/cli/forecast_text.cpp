// SPDX-License-Identifier: Apache-2.0
#include "cli/forecast_text.h"

#include <fmt/format.h>

#include "cli/moment.h"
#include "forecast/score.h"

namespace almanac::cli {

using forecast::kSaid;

std::string in_words(const forecast::Forecast& forecast, const trace::Request& request) {
  const auto [from, to] = forecast.start(kSaid);
  const std::string start =
      from == to ? fmt::format("starts {}", to == forecast.at() ? "at once" : "at " + moment(to))
                 : fmt::format("starts between {} and {}", moment(from), moment(to));
  std::string text = fmt::format("{} ({:.0f} %), ends by {} with {:.0f} %", start, 100 * kSaid,
                                 moment(forecast.ended_by(kSaid)), 100 * kSaid);
  if (request.deadline != kNoTime) {
    text += fmt::format("; the deadline {} is kept with {:.0f} %", moment(request.deadline),
                        100 * forecast.chance_to_end_by(request.deadline));
  }
  return text;
}

}  // namespace almanac::cli
