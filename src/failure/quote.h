// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes a line of any log fit for tables, CSV and JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace almanac::failure {

inline constexpr std::size_t kLongestQuote = 240;  ///< Bytes of the line; escapes make it longer.

/// Returns the line without surrounding blanks; of a long line the part around `at`, with "..." at
/// cuts. Tabs become blanks; other control characters and invalid UTF-8 become \x1b.
std::string quote(std::string_view line, std::size_t at);

}  // namespace almanac::failure
