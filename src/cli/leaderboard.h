// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trials of a sweep on a terminal, the best first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"
#include "report/trials_document.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::cli {

/// GET /v1/sweeps/{name}. Fails with not_found.
Result<serve::ListedSweep> look_at_sweep(serve::Client& client, const std::string& name);

/// Whether none of its trials waits or runs.
bool is_over(const serve::ListedSweep& sweep);

/// What has become of them, then a line for each of the first `most` trials under a header.
std::vector<std::string> leaderboard(const serve::ListedSweep& sweep, Time now, std::size_t most);

/// The same in plain numbers, a column for each parameter: for programs.
void print_leaderboard_csv(const serve::ListedSweep& sweep, Time now);

/// The same for a report.
report::TrialsInput trials_input(const serve::ListedSweep& sweep, Time now);

/// "The best is mnist-7: 0.93 at step 400, with lr=0.01 batch=64"; or that none reported.
std::string best_in_words(const serve::ListedSweep& sweep);

}  // namespace almanac::cli
