// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a run: policies compared, and what became of users, virtual clusters and nodes.
///
/// Nothing in it depends on clocks or on the number of threads.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "report/run_digest.h"

namespace almanac::report {

/// `policies` in the order of the run, those that were simulated; the first is what the others are
/// compared with. `command` is the command line; what it says of threads is left out.
figure::Document run_document(const RunInput& input, const DigestPlan& plan,
                              std::vector<PolicyDigest> policies,
                              const std::vector<std::string>& command);

}  // namespace almanac::report
