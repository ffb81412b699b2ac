// SPDX-License-Identifier: Apache-2.0

/// \file
/// What lever `order` leaves on each workload that it changes: an annotation with the number that
/// it wrote and the one without Almanac's rank. A cluster can so be undone without the journal.
///
/// almanac/order: {"base":0,"field":"priority","value":3}
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steer_kube/settings.h"

namespace almanac::steer_kube {

inline constexpr const char* kMark = "almanac/order";

struct Mark {
  Field field = Field::priority;
  std::int64_t base = 0;   ///< The number without Almanac.
  std::int64_t value = 0;  ///< The number that Almanac wrote.
};

std::string to_text(const Mark& mark);
/// Returns nothing for text that Almanac did not write. A rank is 1 to kHighestRank, so a forged
/// mark moves a number by no more than that.
std::optional<Mark> parse_mark(const std::string& text);

}  // namespace almanac::steer_kube
