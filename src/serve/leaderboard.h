// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trials of a tuning run in rows, in words and for a report, the best first.
#pragma once

#include <string>

#include "base/time.h"
#include "figure/rows.h"
#include "report/trials_document.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::serve {

/// GET /v1/sweeps/{name}. Fails with not_found.
Result<ListedTuning> look_at_tuning(Client& client, const std::string& name);

/// Whether none of its trials is pending or running.
bool is_over(const ListedTuning& tuning);

/// A line: how many trials run, wait and have ended, and the GPU hours of all.
std::string summary_of(const ListedTuning& tuning, Time now);
/// A row for each trial, with a column for each parameter.
figure::Listing trial_rows(const ListedTuning& tuning, Time now);

/// Same for a report.
report::TrialsInput trials_input(const ListedTuning& tuning, Time now);

/// Returns "The best is mnist-7: 0.93 at step 400, with lr=0.01 batch=64", or that no trial has
/// reported.
std::string best_in_words(const ListedTuning& tuning);

}  // namespace almanac::serve
