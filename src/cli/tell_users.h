// SPDX-License-Identifier: Apache-2.0

/// \file
/// Hands each user's text to a command of the site's: mail, a chat.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::cli {

struct UserLetter {
  std::string user{};
  std::string text{};
};

/// Runs `command` by /bin/sh once for each letter, with the text on its standard input and the
/// user's name in ALMANAC_USER. Tells all; says for whom the command failed, and gives status 1.
Result<int> tell_users(const std::string& command, const std::vector<UserLetter>& letters);

}  // namespace almanac::cli
