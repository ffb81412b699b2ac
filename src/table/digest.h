// SPDX-License-Identifier: Apache-2.0

/// \file
/// Identifies a file by its content.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::table {

/// SHA-256 of the file as it lies on disk (packed, if it is), or of its first `most` bytes, in 64
/// hexadecimal digits. Fails with not_found.
Result<std::string> sha256_file(const std::string& path,
                                std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// SHA-256 of `bytes`.
std::string sha256(std::string_view bytes);

}  // namespace almanac::table
