// SPDX-License-Identifier: Apache-2.0

/// \file
/// SHA-256 digests of files and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::table {

/// Returns the digest of the file as stored on disk (compressed, if it is), in 64 hexadecimal
/// digits. Fails with not_found.
Result<std::string> sha256_file(const std::string& path);

/// Returns the digest of the first `bytes` of an open file, without moving its position. Fails with
/// not_found if they cannot be read.
Result<std::string> sha256_start(int descriptor, std::uint64_t bytes);

/// Returns the digest of `bytes`.
std::string sha256(std::string_view bytes);

}  // namespace almanac::table
