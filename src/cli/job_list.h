// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asks the service for jobs, page after page.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "serve/client.h"
#include "serve/view_json.h"

namespace almanac::cli {

/// Returns all jobs of GET /v1/jobs that match `query`.
Result<std::vector<serve::ListedJob>> list_jobs(serve::Client& client, serve::Client::Query query);

/// Returns all jobs of GET /v1/history that match `query`, which has no "below" yet.
Result<std::vector<serve::ListedJob>> list_ended(serve::Client& client, serve::Client::Query query);

/// Returns the service's answer to a GET.
Result<nlohmann::ordered_json> ask_json(serve::Client& client, const std::string& path,
                                        const serve::Client::Query& query = {});

/// Returns all pages of GET /v1/jobs as one answer without "next".
Result<nlohmann::ordered_json> ask_jobs(serve::Client& client, serve::Client::Query query);

/// Prints the service's answer unchanged, for -o json.
Result<int> relay_answer(serve::Client& client, const std::string& path,
                         const serve::Client::Query& query = {});

/// Prints the answer of ask_jobs(), for -o json.
Result<int> relay_jobs(serve::Client& client, serve::Client::Query query);

}  // namespace almanac::cli
