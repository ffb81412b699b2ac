// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prints the advice for a cluster that uses Kueue.
#pragma once

#include <string>

#include "advice/kueue.h"
#include "figure/rows.h"

namespace almanac::cli {

/// Returns the rows of the table: what was recorded, today's Kueue, and what was compared with it.
figure::Listing kueue_advice_rows(const advice::KueueAdvice& advice);
/// Returns what stands above the table.
std::string kueue_advice_introduction(const advice::KueueAdvice& advice);
/// Returns what stands below it: who loses, where the order is not tried, how to make the change.
std::string kueue_advice_explanation(const advice::KueueAdvice& advice);
/// Returns the whole advice as JSON.
std::string kueue_advice_json(const advice::KueueAdvice& advice);

}  // namespace almanac::cli
