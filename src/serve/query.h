// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what a request says in its query and its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "serve/message.h"
#include "service/service.h"

namespace almanac::serve {

/// A whole number of the query; `otherwise` if it is not there. Fails with usage.
Result<std::int64_t> whole(const Ask& ask, const char* name, std::int64_t otherwise);
/// Epoch seconds of the query; kNoTime if they are not there. Fails with usage.
Result<Time> time(const Ask& ask, const char* name);
/// "" if it is not there.
std::string word(const Ask& ask, const char* name);
/// Fails with `usage`, and the nearest known name, if a name in the query is not in `known`.
Result<void> knows(const Ask& ask, const std::vector<std::string>& known);

/// The job that "17" or "12_3" names. Fails with usage or not_found.
Result<service::JobView> find_job(const service::Service& service, const std::string& id);
/// Likewise. The number of an array stands for its unfinished tasks, or for all tasks if all have
/// ended.
Result<std::vector<store::JobNumber>> find_jobs(const service::Service& service,
                                                const std::string& id);

}  // namespace almanac::serve
