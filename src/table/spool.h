// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes standard input a file that can be read more than once.
#pragma once

#include <string>

#include "base/result.h"

namespace almanac::table {

/// Reads standard input to its end into a file without a name, once per process. Returns a path
/// under which this process can read it; the file is deleted when the process ends. Fails with
/// usage if standard input is a terminal, and with unavailable if the file cannot be written (in
/// TMPDIR, by default /tmp).
Result<std::string> spool_standard_input();

}  // namespace almanac::table
