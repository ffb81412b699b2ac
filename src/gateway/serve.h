// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Answers requests, one a line, until there are no more.
#pragma once

namespace almanac::gateway {

/// Answers requests from `in` at `out`, which may be one socket. SIGTERM counts as the end of the
/// line. Gives the exit status.
int serve(int in, int out);

}  // namespace almanac::gateway
