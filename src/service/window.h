// SPDX-License-Identifier: Apache-2.0

/// \file
/// A time in which nothing is to run.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace almanac::service {

struct Window {
  std::int64_t number = 0;  ///< 1, 2, 3 in the order in which they were announced.
  Time from{};
  Time to{};
  std::string why{};

  bool operator==(const Window&) const = default;
};

/// "from 2026-11-24 08:00:00 to 2026-11-24 12:00:00 (new driver)".
std::string to_words(const Window& window);

}  // namespace almanac::service
