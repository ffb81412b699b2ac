// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac release: lets held jobs start.
#include "cli/change_jobs.h"

namespace almanac::cli {

void register_release(Program& program) {
  add_change(program, "release", "Release held jobs", "released");
}

}  // namespace almanac::cli
