// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cancel: ends jobs of the service, or takes them out of its queue.
#include "cli/change_jobs.h"

namespace almanac::cli {

void register_cancel(Program& program) {
  add_change(program, "cancel", "End jobs of the service, or take them out of its queue",
             "cancelled", "Kill them: without SIGTERM and grace, also where that goes on");
}

}  // namespace almanac::cli
