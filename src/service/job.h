// SPDX-License-Identifier: Apache-2.0

/// \file
/// What each service and its clients read off the record of a job.
#pragma once

#include <string>

#include "store/job.h"

namespace almanac::service {

bool has_ended(const store::Job& job);

/// Where a job writes its output, or its errors.
std::string log_of(const store::Job& job, bool err);

/// The file that `pattern` stands for: %j number, %A array, %a index, %x name, %u user, %% itself.
/// A relative one lies in the job's folder.
std::string log_file(const std::string& pattern, const store::Job& job);

}  // namespace almanac::service
