// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a run: compares policies, and their effect on users, virtual clusters and nodes.
///
/// Depends on neither clocks nor the number of threads.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Returns the report. `policies` are the simulated ones in the order of the run; the first is the
/// baseline. `command` is the command line; options about threads are left out.
figure::Document run_document(const RunInput& input, const DigestPlan& plan,
                              std::vector<PolicyDigest> policies,
                              const std::vector<std::string>& command);

}  // namespace almanac::report
