// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report on used and allocated resources: users, smaller requests that would have sufficed,
/// and the jobs that used the least.
#pragma once

#include <vector>

#include "figure/document.h"
#include "study/right_size.h"

namespace almanac::study {

/// The caller fills in the title and the provenance, except the number of jobs.
figure::Document efficiency_document(const std::vector<JobUse>& jobs, const Prices& prices);

}  // namespace almanac::study
