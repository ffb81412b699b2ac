// SPDX-License-Identifier: Apache-2.0
#include "serve/guard.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/wall_clock.h"
#include "serve/answers.h"

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

/// No user has that number: setresuid(2) takes it for "as it is".
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// A browser says where the page is from that asks; other clients say nothing.
bool is_of_another_site(const Ask& ask) {
  const std::string* const site = ask.header("sec-fetch-site");
  if (site != nullptr && *site != "same-origin" && *site != "none") return true;
  const std::string* const origin = ask.header("origin");
  const std::string* const host = ask.header("host");
  if (origin == nullptr) return false;
  return host == nullptr || *origin != (ask.peer.is_tls ? "https://" : "http://") + *host;
}

}  // namespace

std::string Guard::box_of(std::string_view path) {
  constexpr std::string_view kBoxes = "/v1/boxes/";
  if (!path.starts_with(kBoxes)) return {};
  path.remove_prefix(kBoxes.size());
  const std::size_t slash = path.find('/');
  const std::string_view what = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  return what == "report" || what == "logs" || what == "output" ? std::string(path.substr(0, slash))
                                                                : "";
}

std::optional<Answer> Guard::refuses_box(const Ask& ask, const std::string& box) const {
  if (is_of_another_site(ask)) return problem(403, "a page of another site may not make changes");
  const auto token = token_of(ask);
  if (token && token->scope == Scope::agent && token->name == box) return std::nullopt;
  return problem(token ? 403 : 401,
                 token ? fmt::format("this token is not the key of box {}", box)
                       : "the head does not know this key, or it has expired",
                 fmt::format("create one on the head with `almanac token create --scope agent "
                             "--name {} --expires 366d`",
                             box));
}

std::optional<Answer> Guard::refuses(const Ask& ask) const {
  if (const std::string box = box_of(ask.path); !box.empty()) return refuses_box(ask, box);
  if (ask.peer.is_local) return std::nullopt;
  const std::string* const host = ask.header("host");
  if (ask.peer.is_here && !ask.peer.is_tls && (host == nullptr || !is_this_machine(*host))) {
    return problem(403, "the Host of the request is not this machine",
                   "use http://127.0.0.1:PORT or http://localhost:PORT");
  }
  if (changes(ask)) {
    if (is_of_another_site(ask)) return problem(403, "a page of another site may not make changes");
    return refuses_without_token(ask, "a change", Scope::own);
  }
  // A client that shows credentials must learn that they are wrong, even where none are needed.
  if (ask.header("authorization") != nullptr) {
    return refuses_without_token(ask, "access", Scope::read);
  }
  // The page itself contains no data. It requests them with the token that the user types.
  // The state of health is for probes, such as a kubelet's, which have no token.
  if (ask.peer.is_here || ask.path == "/" || ask.path == "/healthz") return std::nullopt;
  return refuses_without_token(ask, "access from another machine", Scope::read);
}

std::optional<Answer> Guard::refuses_log(const Ask& ask, std::uint32_t uid) const {
  if (!ask.peer.is_local) {
    if (auto refused = refuses_without_token(ask, "a log", Scope::read)) return refused;
    if (token_of(ask)->uid == uid) return std::nullopt;
  } else {
    const service::Caller asks = caller(ask);
    if (asks.may_all || asks.uid == uid) return std::nullopt;
  }
  return problem(403, "only the job's user may read its log");
}

std::optional<Answer> Guard::refuses_job(const Ask& ask, const service::Caller& caller) {
  if (caller.uid == kNobody) return problem(401, "the token has been revoked");
  if (ask.peer.is_local || caller.uid != 0) return std::nullopt;
  return problem(403, "a token cannot run jobs as root",
                 "use the Unix socket, or a token of another user");
}

std::optional<Token> Guard::token_of(const Ask& ask) const {
  const std::string* const shown = ask.header("authorization");
  return shown == nullptr ? std::nullopt : tokens_.shown(*shown, wall_clock());
}

std::optional<Answer> Guard::refuses_without_token(const Ask& ask, const char* what,
                                                   Scope least) const {
  const auto token = token_of(ask);
  if (token && token->scope >= least) return std::nullopt;
  if (token) {
    return problem(403, fmt::format("this token has scope {}, but {} requires scope {}",
                                    to_string(token->scope), what, to_string(least)));
  }
  Answer answer =
      problem(401,
              ask.header("authorization") == nullptr
                  ? fmt::format("{} requires a token", what)
                  : "the service does not know this token, or it has expired",
              "create one with `almanac token create` on the service's machine, and set "
              "ALMANAC_TOKEN to it; other clients send \"Authorization: Bearer TOKEN\"");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

service::Caller Guard::caller(const Ask& ask) const {
  if (ask.peer.is_local) {
    return {.uid = ask.peer.uid, .may_all = ask.peer.uid == 0 || ask.peer.uid == owner_};
  }
  const auto token = token_of(ask);
  if (!token) return {.uid = kNobody};
  return {.uid = token->uid, .may_all = token->scope == Scope::operate};
}

}  // namespace almanac::serve
