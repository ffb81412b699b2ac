// SPDX-License-Identifier: Apache-2.0

/// \file
/// Manual pages in the source form of scdoc(1), one page per command.
#pragma once

#include <string>

#include "cli/option_table.h"

namespace almanac::cli {

/// The page of `command`, one of `program` or the program itself.
std::string manual_page(const CommandTable& program, const CommandTable& command);

}  // namespace almanac::cli
