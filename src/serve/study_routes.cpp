// SPDX-License-Identifier: Apache-2.0

/// \file
/// The route of the study of the service's own job log.
#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/api.h"
#include "serve/query.h"

namespace almanac::serve {

void Api::add_study() {
  on("GET", "/v1/study", [this](const Ask& ask, const std::string&) { return study(ask); });
}

Answer Api::study(const Ask& ask) const {
  constexpr std::int64_t kUsual = 30;
  const auto known = knows(ask, {"days"});
  const auto days = whole(ask, "days", kUsual);
  if (!known) return problem(known.error());
  if (!days) return problem(days.error());
  if (*days < 1 || *days > Studies::kLongest) {
    return problem(400, fmt::format("days must be 1 to {}, not {}", Studies::kLongest, *days));
  }
  const auto made = studies_.ask(static_cast<int>(*days));
  if (made && !*made) return problem(made->error());
  const std::shared_ptr<const Studies::Page> page = made ? **made : waiting_page();
  Answer answer{.status = made ? 200 : 202, .body = page->html, .type = "text/html; charset=utf-8"};
  answer.headers.emplace_back("Content-Security-Policy", page->policy);
  if (!made) answer.headers.emplace_back("Refresh", "1");
  protect(answer);
  return answer;
}

}  // namespace almanac::serve
