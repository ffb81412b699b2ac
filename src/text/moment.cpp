// SPDX-License-Identifier: Apache-2.0
#include "text/moment.h"

#include <fmt/format.h>

#include "text/datetime.h"

namespace almanac::text {

std::string moment(Time at) {
  if (at == kNever) return "never";
  // Times below a year are from the trace's own zero.
  constexpr Time kYear{Duration{31'536'000'000}};
  return at < kYear ? fmt::format("{:.0f}s", seconds(at)) : format_datetime(at);
}

}  // namespace almanac::text
