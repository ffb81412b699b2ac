// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Answers requests, one per line.
#pragma once

namespace almanac::gateway {

/// Reads requests from `in` and writes answers to `out` (which may be the same socket) until the
/// input ends or the process gets SIGTERM. Returns the exit status.
int serve(int in, int out);

}  // namespace almanac::gateway
