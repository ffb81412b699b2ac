// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cancel: ends running jobs and removes waiting ones.
#include "cli/change_jobs.h"

namespace almanac::cli {

void register_cancel(Program& program) {
  add_change(program, "cancel", "Cancel jobs, whether pending or running", "cancelled",
             "Kill immediately, without SIGTERM and grace period");
}

}  // namespace almanac::cli
