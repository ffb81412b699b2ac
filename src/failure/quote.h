// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes a line of any log fit for tables, CSV and JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace almanac::failure {

inline constexpr std::size_t kLongestQuote = 240;  ///< Bytes of the line; escapes make it longer.

/// The line without blanks around it; of a long one what lies around `at`, with "..." where it is
/// cut. Tabs become blanks, other control characters and what is not UTF-8 become \x1b.
std::string quote(std::string_view line, std::size_t at);

}  // namespace almanac::failure
