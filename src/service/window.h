// SPDX-License-Identifier: Apache-2.0

/// \file
/// A maintenance window: a time in which no job may run.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace almanac::service {

struct Window {
  std::int64_t number = 0;  ///< 1, 2, 3 in order of announcement.
  Time from{};
  Time to{};
  std::string why{};

  bool operator==(const Window&) const = default;
};

/// "from 2026-11-24 08:00:00 to 2026-11-24 12:00:00 (new driver)".
std::string to_words(const Window& window);

}  // namespace almanac::service
