// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac hold: keeps waiting jobs from starting until they are released.
#include "cli/change_jobs.h"

namespace almanac::cli {

void register_hold(Program& program) {
  add_change(program, "hold", "Hold pending jobs until they are released", "held");
}

}  // namespace almanac::cli
