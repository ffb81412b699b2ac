// SPDX-License-Identifier: Apache-2.0

/// \file
/// Quotes words for shells.
#pragma once

#include <string>

namespace almanac::text {

/// Returns `text` in single quotes, for any shell. `quote_in_quotes` replaces a quote within it.
std::string quoted(const std::string& text, const char* quote_in_quotes = "'\\''");

}  // namespace almanac::text
