// SPDX-License-Identifier: Apache-2.0

/// \file
/// The width of the terminal on which the program prints, and text that fits it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <unistd.h>

namespace almanac::cli {

/// Columns of an output: $COLUMNS, else those of the terminal behind `descriptor`; 0 if it is none.
std::size_t terminal_columns(int descriptor = STDOUT_FILENO);

/// Returns `text` with lines that are wider than the terminal broken at blanks, and continued below
/// their text: behind "  easy   " or an indentation. Unchanged if the width is unknown.
std::string fitted_to_terminal(std::string_view text, int descriptor = STDOUT_FILENO);

/// Prints an error or a note on stderr and ends its line. Fitted to the terminal there. Where
/// stderr is no terminal each message stays one line, for scripts.
void print_message(std::string_view text);

}  // namespace almanac::cli
