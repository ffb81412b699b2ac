// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands that change the state of jobs: cancel, hold, release, requeue.
#pragma once

#include <string>

#include "cli/program.h"
#include "cli/service_options.h"

namespace almanac::cli {

/// Applies `verb` to these jobs in one request and prints that each is `done`. Prints jobs that
/// cannot be changed on stderr; the others are changed nevertheless.
Result<int> change_jobs(const ServiceOptions& service, const serve::Which& which,
                        const std::string& verb, const std::string& done);

/// Returns "job 7: MESSAGE", but only the message if it begins with "job 7 ".
std::string refusal_of(const std::string& job, const std::string& message);

/// Adds `almanac VERB [JOB...] [--user NAME] [--state STATE] [--name NAME] [--all]`; `done` is
/// printed for a changed job: "cancelled". `now` describes the flag --now; "" = no such flag.
void add_change(Program& program, const std::string& verb, const std::string& description,
                const std::string& done, const std::string& now = "");

}  // namespace almanac::cli
