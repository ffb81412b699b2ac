// SPDX-License-Identifier: Apache-2.0

/// \file
/// Body of main(): parses the command line, runs the action and reports its error.
#pragma once

#include "cli/program.h"

namespace almanac::cli {

/// Parses the command line into `program.app`, runs `program.action` and returns the exit status.
/// Errors go to stderr, one message each, in the name of the app.
int run_main(int argc, char** argv, Program& program);

}  // namespace almanac::cli
