// SPDX-License-Identifier: Apache-2.0

/// \file
/// Passes each user's text to a shell command, such as mail or chat, or writes it to a file.
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
/// user's name in ALMANAC_USER. Goes on after a failure; then names those users and returns
/// status 1.
Result<int> tell_users(const std::string& command, const std::vector<UserLetter>& letters);

/// Writes each letter to `folder`/USER.txt, and prints how many. Makes the folder. Fails with
/// usage, before it writes anything, if a user's name cannot be a file name, and with unavailable
/// if a file cannot be written.
Result<int> write_letters(const std::string& folder, const std::vector<UserLetter>& letters);

}  // namespace almanac::cli
