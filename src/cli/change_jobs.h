// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands that do one thing to jobs of the service: cancel, hold, release, requeue.
#pragma once

#include <string>

#include "cli/program.h"
#include "cli/service_options.h"

namespace almanac::cli {

/// Does `verb` to these jobs by one request, and says of each that it is `done`. Jobs that cannot
/// be changed are named on stderr; the others are changed all the same.
Result<int> change_jobs(const ServiceOptions& service, const serve::Which& which,
                        const std::string& verb, const std::string& done);

/// Adds `almanac VERB [JOB...] [--user NAME] [--state STATE] [--name NAME] [--all]`; `done` is what
/// is said of a job then: "cancelled". `now`: what the flag --now does; "" = there is none.
void add_change(Program& program, const std::string& verb, const std::string& description,
                const std::string& done, const std::string& now = "");

}  // namespace almanac::cli
