// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac requeue: runs jobs again, from their beginning.
#include "cli/change_jobs.h"

namespace almanac::cli {

void register_requeue(Program& program) {
  add_change(program, "requeue", "Requeue jobs, to run again from their beginning", "queued again");
}

}  // namespace almanac::cli
