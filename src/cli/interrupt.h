// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns Ctrl-C into a flag, so that work can stop cleanly.
#pragma once

#include <atomic>

namespace almanac::cli {

/// True once SIGINT or SIGTERM has arrived. The first call installs the handlers; a second signal
/// ends the program at once.
const std::atomic<bool>& interrupted();

}  // namespace almanac::cli
