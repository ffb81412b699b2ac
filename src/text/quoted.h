// SPDX-License-Identifier: Apache-2.0

/// \file
/// Words as shells take them literally.
#pragma once

#include <string>

namespace almanac::text {

/// In single quotes, for any of the shells; `quote_in_quotes` is written for a quote within.
std::string quoted(const std::string& text, const char* quote_in_quotes = "'\\''");

}  // namespace almanac::text
