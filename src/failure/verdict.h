// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a log says that its job failed, with the line that decided it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace almanac::failure {

/// What stands for a log in which no rule finds anything; Philly's table calls it so too.
inline constexpr const char* kNoSignature = "No signature";

struct Verdict {
  std::optional<std::size_t> rule{};  ///< Position in Rules::rules; nothing = no signature.
  std::int64_t line = 0;  ///< From 1, counting newlines as editors do; 0 = no signature.
  std::string quote{};    ///< That line, fit to be printed: see quote().
};

}  // namespace almanac::failure
