// SPDX-License-Identifier: Apache-2.0

/// \file
/// Files of a control group: small, one value each.
#pragma once

#include <optional>
#include <string>

namespace almanac::agent {

/// Returns its text without trailing newlines; nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path);
/// False with errno. Makes no file.
bool write_file(const std::string& path, const std::string& text);

}  // namespace almanac::agent
