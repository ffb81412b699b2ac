// SPDX-License-Identifier: Apache-2.0

/// \file
/// Routes outside version 1 of the API: the dashboard, metrics, health, the API's description.
#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/api.h"
#include "serve/api_document.h"
#include "serve/fields.h"
#include "serve/page_policy.h"

namespace almanac::serve {

void Api::add_page() {
  on("GET", "/", [this](const Ask&, const std::string&) {
    if (page_.empty()) {
      return problem(404, "this build has no dashboard",
                     "building it requires npm; see /openapi.json for the API");
    }
    Answer answer{.body = page_, .type = "text/html; charset=utf-8"};
    answer.headers.emplace_back("Content-Security-Policy", page_policy_);
    protect(answer);
    return answer;
  });
  on("GET", "/openapi.json", [](const Ask&, const std::string&) { return json(api_document()); });
  on("GET", "/metrics", [this](const Ask&, const std::string&) {
    Answer answer{.body = metrics_.text(service_), .type = "text/plain; version=0.0.4"};
    protect(answer);
    return answer;
  });
  on("GET", "/healthz", [this](const Ask& ask, const std::string&) {
    service::Overview overview = service_.overview();
    // A probe needs no token, and texts may name jobs.
    const bool is_stranger =
        !ask.peer.is_local && !ask.peer.is_here && ask.header("authorization") == nullptr;
    if (is_stranger) overview.warnings.clear();
    if (!overview.trouble.empty()) {
      return problem(503, is_stranger ? "the service accepts no changes" : overview.trouble);
    }
    // The service itself is well where the manager whose cluster it steers is not.
    const auto manager = service_.manager();
    const bool is_degraded = manager && !manager->trouble.empty();
    return json(dumped({{"status", is_degraded ? "degraded" : "ok"},
                        {"revision", overview.revision},
                        {"warnings", overview.warnings}}));
  });
}

}  // namespace almanac::serve
