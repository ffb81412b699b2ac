// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report on used and allocated resources: users, smaller sufficient requests, and the jobs
/// that used least.
#pragma once

#include <vector>

#include "figure/document.h"
#include "study/right_size.h"

namespace almanac::study {

/// Title and provenance but for its number of jobs are the caller's.
figure::Document efficiency_document(const std::vector<JobUse>& jobs, const Prices& prices);

}  // namespace almanac::study
