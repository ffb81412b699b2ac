// SPDX-License-Identifier: Apache-2.0

#include "inference/log_units.h"

#include <fmt/format.h>

namespace almanac::inference {
namespace {

/// Requests a second of logs that were recorded at one service.
constexpr double kLeastRate = 0.01, kMostRate = 200;
/// Beyond these, even a log in its usual form has another unit.
constexpr double kRarestRate = 1e-3, kFastestRate = 1000;
/// The rate of fewer requests says nothing.
constexpr std::size_t kFew = 10;

bool is_plausible(double rate) { return rate >= kLeastRate && rate <= kMostRate; }

}  // namespace

Result<double> arrival_unit(const ArrivalSigns& signs, const std::string& path) {
  constexpr double kMilli = 1e3, kSecond = 1e6;
  if (signs.span <= 0) return signs.usual;
  const double per_s = static_cast<double>(signs.requests - 1) / signs.span;
  const double per_ms = 1e3 * per_s;  // requests a second if the unit is a millisecond
  const bool in_seconds = signs.usual == kSecond;
  if (signs.is_usual) {
    const bool is_few = signs.requests < kFew;
    const bool is_odd = in_seconds ? !signs.has_points && !is_few && per_s < kRarestRate
                                   : signs.has_points || (!is_few && per_ms > kFastestRate);
    if (!is_odd) return signs.usual;
  }
  if (is_plausible(per_s) != is_plausible(per_ms)) return is_plausible(per_s) ? kSecond : kMilli;
  return fail(
      Code::invalid,
      fmt::format(
          "timestamp may be in seconds ({:.3g} requests/s) or milliseconds ({:.3g} requests/s)",
          per_s, per_ms),
      {.file = path},
      "choose one with --columns FILE: [columns] arrival_s = {column = \"timestamp\", unit = "
      "\"ms\"}, prompt_tokens = \"input_length\", output_tokens = \"output_length\", block_ids = "
      "\"hash_ids\"");
}

}  // namespace almanac::inference
