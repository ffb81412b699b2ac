// SPDX-License-Identifier: Apache-2.0

/// \file
/// The size of the terminal on which the program prints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace almanac::cli {

/// Columns of standard output: $COLUMNS, else those of its terminal; 0 if it is none.
std::size_t terminal_columns();

/// Returns `text` with lines that are wider than the terminal broken at blanks, and continued below
/// their text: behind "  easy   " or an indentation. Unchanged if the width is unknown.
std::string fitted_to_terminal(std::string_view text);

}  // namespace almanac::cli
