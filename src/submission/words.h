// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cuts a directive line into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::submission {

/// A blank or a tab.
bool is_blank(char c);

/// Splits words at blanks; '...', "..." and \ keep them together; a word that starts with # ends
/// the line. Fails with `invalid` for an unclosed quote.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace almanac::submission
