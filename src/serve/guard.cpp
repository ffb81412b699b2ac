// SPDX-License-Identifier: Apache-2.0
#include "serve/guard.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/token.h"

namespace almanac::serve {
namespace {

/// "127.0.0.1", "localhost" or "[::1]", with a port or without.
bool is_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.back() != ']') {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.find_first_not_of("0123456789") != std::string_view::npos) {
      return false;
    }
    host = host.substr(0, colon);
  }
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

/// A browser says where the page is from that asks; other clients say nothing.
bool is_of_another_site(const Ask& ask) {
  const std::string* const site = ask.header("sec-fetch-site");
  if (site != nullptr && *site != "same-origin" && *site != "none") return true;
  const std::string* const origin = ask.header("origin");
  const std::string* const host = ask.header("host");
  return origin != nullptr && (host == nullptr || *origin != "http://" + *host);
}

}  // namespace

std::optional<Answer> Guard::refuses(const Ask& ask) const {
  if (ask.peer.is_local) return std::nullopt;
  const std::string* const host = ask.header("host");
  if (host == nullptr || !is_this_machine(*host)) {
    return problem(403, "the Host of the request is not this machine",
                   "ask http://127.0.0.1:PORT or http://localhost:PORT");
  }
  if (!changes(ask)) return std::nullopt;
  if (is_of_another_site(ask)) return problem(403, "a page of another site asks for a change");
  return refuses_without_token(ask, "a change");
}

std::optional<Answer> Guard::refuses_log(const Ask& ask, std::uint32_t uid) const {
  if (!ask.peer.is_local) return refuses_without_token(ask, "a log");
  const live::Caller asks = caller(ask);
  if (asks.may_all || asks.uid == uid) return std::nullopt;
  return problem(403, "a log is shown to the job's user only");
}

std::optional<Answer> Guard::refuses_without_token(const Ask& ask, const char* what) const {
  const std::string* const shown = ask.header("authorization");
  if (shown != nullptr && shows_token(*shown, token_)) return std::nullopt;
  Answer answer = problem(401,
                          shown == nullptr ? fmt::format("{} needs the service's token", what)
                                           : "this is not the service's token",
                          "send \"Authorization: Bearer TOKEN\" with the content of the file token "
                          "in the service's state folder, or use its Unix socket");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

live::Caller Guard::caller(const Ask& ask) const {
  if (!ask.peer.is_local) return {.uid = owner_, .may_all = true};
  return {.uid = ask.peer.uid, .may_all = ask.peer.uid == 0 || ask.peer.uid == owner_};
}

}  // namespace almanac::serve
