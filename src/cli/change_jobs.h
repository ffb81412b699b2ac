// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands that do one thing to jobs of the service: cancel, hold, release, requeue.
#pragma once

#include <string>

#include "cli/program.h"

namespace almanac::cli {

/// Adds `almanac VERB JOB...`; `done` is what is said of a job then: "cancelled". `now`: what the
/// flag --now does; "" = there is none.
void add_change(Program& program, const std::string& verb, const std::string& description,
                const std::string& done, const std::string& now = "");

}  // namespace almanac::cli
