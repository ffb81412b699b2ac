// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trials of a tuning run on a terminal, the best first.
#pragma once

#include <string>

#include "base/time.h"
#include "figure/rows.h"
#include "report/trials_document.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::cli {

/// GET /v1/sweeps/{name}. Fails with not_found.
Result<serve::ListedTuning> look_at_tuning(serve::Client& client, const std::string& name);

/// Whether none of its trials waits or runs.
bool is_over(const serve::ListedTuning& tuning);

/// A line: how many trials run, wait and have ended, and the GPU hours of all.
std::string summary_of(const serve::ListedTuning& tuning, Time now);
/// A row for each trial, with a column for each parameter.
figure::Listing trial_rows(const serve::ListedTuning& tuning, Time now);

/// The same for a report.
report::TrialsInput trials_input(const serve::ListedTuning& tuning, Time now);

/// "The best is mnist-7: 0.93 at step 400, with lr=0.01 batch=64"; or that none reported.
std::string best_in_words(const serve::ListedTuning& tuning);

}  // namespace almanac::cli
