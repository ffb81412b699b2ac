// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Answers requests, one a line, until there are no more.
#pragma once

namespace almanac::gateway {

/// From `in` to `out`; which may be one socket. Signals SIGTERM like the end of the line. At the
/// end releases what is watched. Gives the exit status.
int serve(int in, int out);

}  // namespace almanac::gateway
