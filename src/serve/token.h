// SPDX-License-Identifier: Apache-2.0

/// \file
/// The secret that a client without a name must show before it changes anything.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::serve {

/// Reads the token of a state folder, or makes one: 256 random bits, readable by its owner only.
/// Fails with invalid when others can read the file.
Result<std::string> keep_token(const std::string& path);

/// Whether `header` is "Bearer TOKEN". Takes as long for any wrong token of the right length.
bool shows_token(std::string_view header, std::string_view token);

}  // namespace almanac::serve
