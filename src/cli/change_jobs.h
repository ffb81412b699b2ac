// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands that do one thing to jobs of the service: cancel, hold, release, requeue.
#pragma once

#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/service_options.h"

namespace almanac::cli {

/// Posts `body` to `what` of each job ("cancel?now=1") and says that it is `done`. Goes on after a
/// job that cannot be changed: the others were meant too.
Result<int> change_jobs(const ServiceOptions& service, const std::vector<std::string>& jobs,
                        const std::string& what, const std::string& done,
                        const std::string& body = "");

/// Adds `almanac VERB JOB...`; `done` is what is said of a job then: "cancelled". `now`: what the
/// flag --now does; "" = there is none.
void add_change(Program& program, const std::string& verb, const std::string& description,
                const std::string& done, const std::string& now = "");

}  // namespace almanac::cli
