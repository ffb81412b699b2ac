// SPDX-License-Identifier: Apache-2.0

/// \file
/// Advice as a terminal shows it: the answer, a table, and an explanation.
#pragma once

#include <string>

#include "advice/advise.h"
#include "figure/rows.h"

namespace almanac::cli {

/// Returns the rows of the table: what was recorded, today's Slurm, and what was compared with it.
figure::Listing advice_rows(const advice::Advice& advice);

/// Returns what stands above the table: how well the log is reproduced, and the recommendation.
std::string advice_introduction(const advice::Advice& advice);

/// Returns what stands below it: settings that matter, who loses, what was assumed, what to do.
std::string advice_explanation(const advice::Advice& advice);

/// Returns the whole advice as JSON.
std::string advice_json(const advice::Advice& advice);

}  // namespace almanac::cli
