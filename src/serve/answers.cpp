// SPDX-License-Identifier: Apache-2.0
#include "serve/answers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/query.h"

namespace almanac::serve {
namespace {

struct Named {
  int status;
  const char* code;
};

// The words of `code` that are not those of base/result.h.
constexpr Named kCodes[] = {
    {400, "invalid"},     {401, "unauthorized"}, {403, "forbidden"},   {404, "not_found"},
    {405, "bad_method"},  {408, "too_slow"},     {409, "conflict"},    {411, "invalid"},
    {413, "too_large"},   {414, "too_large"},    {415, "unsupported"}, {416, "unsupported"},
    {417, "unsupported"}, {429, "too_many"},     {431, "too_large"},   {500, "internal"},
    {501, "unsupported"}, {503, "unavailable"},
};

Named named_for(Code code) {
  switch (code) {
    case Code::usage:
      return {400, "usage"};
    case Code::invalid:
      return {400, "invalid"};
    case Code::corrupt:
      return {500, "corrupt"};
    case Code::not_found:
      return {404, "not_found"};
    case Code::conflict:
      return {409, "conflict"};
    case Code::unavailable:
      return {503, "unavailable"};
    case Code::unsupported:
      return {501, "unsupported"};
  }
  return {500, "internal"};
}

Answer refused(int status, const char* code, const std::string& message, const std::string& hint) {
  nlohmann::ordered_json error = {{"code", code}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  Answer answer{.status = status,
                .body = nlohmann::ordered_json{{"error", error}}.dump(
                    -1, ' ', false, nlohmann::json::error_handler_t::replace)};
  protect(answer);
  return answer;
}

}  // namespace

Answer problem(int status, const std::string& message, const std::string& hint) {
  const auto* const found = std::find_if(std::begin(kCodes), std::end(kCodes),
                                         [&](const Named& each) { return each.status == status; });
  return refused(status, found == std::end(kCodes) ? "invalid" : found->code, message, hint);
}

Answer problem(const Error& error) {
  Error plain = error;
  plain.hint.clear();
  const Named named = named_for(error.code);
  return refused(named.status, named.code, to_string(plain), error.hint);
}

const char* code_word(Code code) { return named_for(code).code; }

Answer json(std::string text) {
  Answer answer{.body = std::move(text)};
  protect(answer);
  return answer;
}

Answer json_at(const Ask& ask, std::uint64_t revision,
               const std::function<Result<std::string>()>& text) {
  const std::string tag = fmt::format("\"{}\"", revision);
  const auto asked = whole(ask, "revision", -1);
  if (!asked) return problem(asked.error());
  const std::string* const kept = ask.header("if-none-match");
  const bool is_known =
      *asked == static_cast<std::int64_t>(revision) || (kept != nullptr && *kept == tag);
  Answer answer{.status = is_known ? 304 : 200};
  if (!is_known) {
    auto made = text();
    if (!made) return problem(made.error());
    answer.body = *std::move(made);
  }
  answer.headers.emplace_back("ETag", tag);
  protect(answer);
  return answer;
}

Answer none_yet() {
  Answer answer{.status = 204};
  protect(answer);
  return answer;
}

void protect(Answer& answer) {
  answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
  answer.headers.emplace_back("Referrer-Policy", "no-referrer");
  answer.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  const auto has = [&](const char* name) {
    return std::any_of(answer.headers.begin(), answer.headers.end(),
                       [&](const auto& header) { return header.first == name; });
  };
  if (!has("Cache-Control")) answer.headers.emplace_back("Cache-Control", "no-store");
  if (!has("Content-Security-Policy")) {
    answer.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; frame-ancestors 'none'");
  }
}

}  // namespace almanac::serve
