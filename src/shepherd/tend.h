// SPDX-License-Identifier: Apache-2.0

/// \file
/// The main function of almanac-shepherd: starts the command of a run, copies its output, enforces
/// its limits, ends it with all its processes, and records how it ended.
#pragma once

#include <string>

namespace almanac::shepherd {

/// Tends the run of a folder, whose lock is open as kLockDescriptor, until none of its processes
/// runs. Returns 1, with a message on standard error, if it cannot write there; nothing has run
/// then. Its standard output must be /dev/null.
int tend(const std::string& folder);

}  // namespace almanac::shepherd
