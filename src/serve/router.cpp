// SPDX-License-Identifier: Apache-2.0
#include "serve/router.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "serve/answers.h"

namespace almanac::serve {
namespace {

/// What stands in place of the "{name}" of `pattern`; nothing = another path.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) {
    return pattern == path ? std::optional<std::string_view>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, open);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= before.size() + after.size() || path.substr(0, open) != before ||
      path.substr(path.size() - after.size()) != after) {
    return std::nullopt;
  }
  const std::string_view part = path.substr(open, path.size() - before.size() - after.size());
  return part.find('/') == std::string_view::npos ? std::optional(part) : std::nullopt;
}

}  // namespace

void Router::add(std::string method, std::string path, Answerer answerer) {
  routes_.push_back({std::move(method), std::move(path), std::move(answerer)});
}

Answer Router::answer(const Ask& ask) const {
  const std::string& method = ask.method == "HEAD" ? "GET" : ask.method;
  std::vector<std::string> allowed;
  for (const Route& route : routes_) {
    const auto part = match(route.path, ask.path);
    if (!part) continue;
    if (route.method == method) return route.answerer(ask, std::string(*part));
    allowed.push_back(route.method);
  }
  if (allowed.empty()) return problem(404, fmt::format("there is no {}", ask.path));
  Answer answer = problem(405, fmt::format("{} is not allowed on {}", ask.method, ask.path));
  answer.headers.emplace_back("Allow", fmt::format("{}", fmt::join(allowed, ", ")));
  return answer;
}

}  // namespace almanac::serve
