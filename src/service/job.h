// SPDX-License-Identifier: Apache-2.0

/// \file
/// Facts that services and their clients derive from the record of a job.
#pragma once

#include <string>

#include "store/job.h"

namespace almanac::service {

bool has_ended(const store::Job& job);

/// "17", or "12_3" of a task of an array.
std::string job_id(const store::Job& job);

/// The path of the standard output, or standard error, of a job.
std::string log_of(const store::Job& job, bool err);

/// Expands `pattern` to a path: %j number, %A array, %a index, %x name, %u user, %% itself.
/// Relative paths start at the directory of the job.
std::string log_file(const std::string& pattern, const store::Job& job);

}  // namespace almanac::service
