// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the program almanac-shepherd does: starts the command of a run, carries its output, holds
/// it to its limits, ends it with all that it started, and writes down how it ended.
#pragma once

#include <string>

namespace almanac::shepherd {

/// Tends the run of a folder, whose lock is open as kLockDescriptor, until nothing of it runs any
/// more. Gives 1, and says why on the standard error, where nothing can be written there; then
/// nothing has run. Its standard output must be /dev/null.
int tend(const std::string& folder);

}  // namespace almanac::shepherd
