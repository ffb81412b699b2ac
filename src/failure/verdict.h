// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a log says that its job failed, with the line that decided it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace almanac::failure {

/// The verdict on a log in which no rule matches; the name in Philly's table.
inline constexpr const char* kNoSignature = "No signature";

struct Verdict {
  std::optional<std::size_t> rule{};  ///< Position in Rules::rules; nothing without a signature.
  std::int64_t line = 0;  ///< From 1, counting newlines as editors do; 0 without a signature.
  std::string quote{};    ///< That line, printable: see quote().
};

}  // namespace almanac::failure
