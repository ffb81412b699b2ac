// SPDX-License-Identifier: Apache-2.0

/// \file
/// The size of the terminal on which the program prints.
#pragma once

#include <cstddef>

namespace almanac::cli {

/// Columns of standard output: $COLUMNS, else those of its terminal; 0 if it is none.
std::size_t terminal_columns();

}  // namespace almanac::cli
