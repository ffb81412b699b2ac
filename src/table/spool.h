// SPDX-License-Identifier: Apache-2.0

/// \file
/// Standard input as a file that can be read more than once.
#pragma once

#include <string>

#include "base/result.h"

namespace almanac::table {

/// Reads standard input to its end, once a process, into a file without a name and gives a path
/// under which this process can read it; the file goes with the process. Fails with usage where
/// standard input is a terminal, which nobody would type a log into, and with unavailable where it
/// cannot be kept (TMPDIR, else /tmp).
Result<std::string> spool_standard_input();

}  // namespace almanac::table
