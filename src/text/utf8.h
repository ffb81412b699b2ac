// SPDX-License-Identifier: Apache-2.0

/// \file
/// Checks and repairs UTF-8: names of jobs and of files may contain any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace almanac::text {

/// Returns the size in bytes of the first character of `text`, which must not be empty; 0 = the
/// bytes are not UTF-8.
std::size_t character_size(std::string_view text);

/// Whether a byte is part of a character but not its first byte.
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Returns `text` with U+FFFD in place of each byte that is not part of a character.
std::string mend_utf8(std::string_view text);

}  // namespace almanac::text
