// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asks the service for jobs, page after page.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::cli {

/// All jobs that `query` chooses of GET /v1/jobs.
Result<std::vector<serve::ListedJob>> list_jobs(serve::Client& client, serve::Client::Query query);

/// All jobs that `query` chooses of GET /v1/history, which has no "below" yet.
Result<std::vector<serve::ListedJob>> list_ended(serve::Client& client, serve::Client::Query query);

/// The answer of the service as it is, for -o json.
Result<int> print_answer(serve::Client& client, const std::string& path,
                         const serve::Client::Query& query = {});

/// All jobs that `query` chooses of GET /v1/jobs as one answer without "next", for -o json.
Result<int> print_jobs_answer(serve::Client& client, serve::Client::Query query);

}  // namespace almanac::cli
