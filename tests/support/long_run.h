// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether a test may take minutes. Without ALMANAC_LONG=1, which `./test --long` sets, tests with
/// many equal cases play a part of them.
#pragma once

#include <cstdlib>
#include <string_view>

namespace almanac {

inline bool is_long_run() {
  const char* const told = std::getenv("ALMANAC_LONG");
  return told != nullptr && std::string_view(told) == "1";
}

}  // namespace almanac
