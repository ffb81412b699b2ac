// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a doctor says of a check, and of a feature that depends on it.
#pragma once

#include <cstdint>
#include <string_view>

namespace almanac {

/// From good to bad. The verdict of a feature is the worst of all checks that concern it.
enum class Verdict : std::uint8_t { fine, unknown, partly, broken };

/// Returns "ok", "unknown", "partly", "no".
constexpr std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::fine:
      return "ok";
    case Verdict::unknown:
      return "unknown";
    case Verdict::partly:
      return "partly";
    case Verdict::broken:
      return "no";
  }
  return "";
}

}  // namespace almanac
