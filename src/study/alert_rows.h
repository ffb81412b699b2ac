// SPDX-License-Identifier: Apache-2.0

/// \file
/// Alerts as rows, with the norms that they use.
#pragma once

#include <string>
#include <vector>

#include "figure/rows.h"
#include "study/alerts.h"

namespace almanac::study {

figure::Listing alert_rows(const std::vector<Alert>& alerts, const Norms& norms);

/// A line for each kind of alert among `alerts`: its norm.
std::string norms_in_words(const std::vector<Alert>& alerts, const Norms& norms);

}  // namespace almanac::study
