// SPDX-License-Identifier: Apache-2.0

/// \file
/// Identifies a file by its content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::table {

/// SHA-256 of the file as it lies on disk (packed, if it is), in 64 hexadecimal digits. Fails with
/// not_found.
Result<std::string> sha256_file(const std::string& path);

/// SHA-256 of the first `bytes` of a file that is open; its position stays. Fails with not_found
/// where they cannot be read.
Result<std::string> sha256_start(int descriptor, std::uint64_t bytes);

/// SHA-256 of `bytes`.
std::string sha256(std::string_view bytes);

}  // namespace almanac::table
