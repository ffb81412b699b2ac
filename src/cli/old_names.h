// SPDX-License-Identifier: Apache-2.0

/// \file
/// Former names of commands, which scripts may still use.
#pragma once

namespace almanac::cli {

/// Replaces a former name in the command line by the current one: `sweep run`, `sweep show` and
/// `sweep cancel` are `tune run`, `tune show` and `tune cancel`.
void replace_old_names(int argc, char** argv);

}  // namespace almanac::cli
