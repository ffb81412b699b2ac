// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tells what is text in UTF-8: names of jobs and of files may be any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace almanac::text {

/// The bytes of the character that `text`, which has some, begins with; 0 = it is none.
std::size_t character_size(std::string_view text);

/// Whether a byte is within a character, not its first.
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// `text` with U+FFFD in place of each byte that is of no character.
std::string mend_utf8(std::string_view text);

}  // namespace almanac::text
