// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report on what jobs used of what they held: users, what they could ask less, and the jobs
/// that used least.
#pragma once

#include <vector>

#include "figure/document.h"
#include "study/right_size.h"

namespace almanac::study {

/// Title and provenance but for its number of jobs are the caller's.
figure::Document efficiency_document(const std::vector<JobUse>& jobs, const Prices& prices);

}  // namespace almanac::study
