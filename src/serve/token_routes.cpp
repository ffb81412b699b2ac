// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes that make, list and revoke tokens. They need the user name that the kernel reports,
/// so they exist only on the Unix socket.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/wall_clock.h"
#include "boxes/wire.h"
#include "serve/answers.h"
#include "serve/api.h"
#include "serve/fields.h"

namespace almanac::serve {
namespace {

constexpr double kLongest_s = 366.0 * 86'400;
constexpr std::size_t kLongestTokenName = 256;

Json to_json(const Token& token) {
  const Json created_s = seconds_json(token.made.time_since_epoch().count());
  return {{"id", token.id},
          {"name", token.name},
          {"uid", token.uid},
          {"scope", to_string(token.scope)},
          {"created_s", created_s},
          {"expires_s", seconds_json(token.expires.time_since_epoch().count())},
          {"made_s", created_s}};  // its name in the release before
}

struct AskedToken {
  std::string name{};
  std::string scope{};
  std::optional<double> lifetime_s{};
  std::optional<std::int64_t> uid{};
};

Result<AskedToken> read_asked(const std::string& body) {
  return read_json(body, [](const Json& json) {
    AskedToken read;
    Reader reader(json);
    reader.field("name", read.name);
    reader.field("scope", read.scope);
    reader.formerly("lasts_s", read.lifetime_s);
    reader.field("lifetime_s", read.lifetime_s);
    reader.field("uid", read.uid);
    reader.end();
    return read;
  });
}

}  // namespace

void Api::add_tokens() {
  const auto by_socket = [](Answerer answerer) -> Answerer {
    return [answerer = std::move(answerer)](const Ask& ask, const std::string& part) {
      if (ask.peer.is_local) return answerer(ask, part);
      return problem(
          403, "tokens can be created, listed and revoked through the service's Unix socket only");
    };
  };
  on("GET", "/v1/tokens", by_socket([this](const Ask& ask, const std::string&) {
       const service::Caller caller = guard_.caller(ask);
       Json list = Json::array();
       for (const Token& each : tokens_.all(wall_clock())) {
         if (caller.may_all || each.uid == caller.uid) list.push_back(to_json(each));
       }
       return json(dumped({{"tokens", list}}));
     }));
  on("POST", "/v1/tokens",
     by_socket([this](const Ask& ask, const std::string&) { return make_token(ask); }));
  on("POST", "/v1/tokens/{id}/revoke", by_socket([this](const Ask& ask, const std::string& part) {
       const service::Caller caller = guard_.caller(ask);
       for (const Token& each : tokens_.all(wall_clock())) {
         if (each.id != part || (!caller.may_all && each.uid != caller.uid)) continue;
         const auto done = tokens_.revoke(part);
         return done ? json(dumped(to_json(each))) : problem(done.error());
       }
       return problem(404, fmt::format("you have no token {}", part));
     }));
}

Answer Api::make_token(const Ask& ask) const {
  const auto asked = read_asked(ask.body);
  if (!asked) return problem(asked.error());
  const service::Caller caller = guard_.caller(ask);
  const auto scope = parse_scope(asked->scope);
  if (!scope) {
    return problem(400,
                   fmt::format("scope must be agent, read, own or operate, not {}", asked->scope));
  }
  constexpr double kUsual_s = 90.0 * 86'400;
  const double lifetime_s = asked->lifetime_s.value_or(kUsual_s);
  if (!(lifetime_s > 0 && lifetime_s <= kLongest_s)) {
    return problem(
        400,
        fmt::format(
            "a token must expire after more than 0 s and at most {:.0f} s ({:.0f} days), found "
            "{:.0f} s",
            kLongest_s, kLongest_s / 86'400, lifetime_s));
  }
  if (asked->name.size() > kLongestTokenName) {
    return problem(400, fmt::format("name may have at most {} characters", kLongestTokenName));
  }
  // The name appears on terminals, also root's.
  if (std::any_of(asked->name.begin(), asked->name.end(),
                  [](unsigned char c) { return c < ' ' || c == 0x7F; })) {
    return problem(400, "name contains a line break or another control character");
  }
  const std::int64_t uid = asked->uid.value_or(caller.uid);
  if (uid < 0 || uid >= 0xFFFF'FFFF) return problem(400, "uid must be the number of a user");
  const bool is_for_operators = *scope == Scope::operate || *scope == Scope::agent;
  if (!caller.may_all && (uid != caller.uid || is_for_operators)) {
    return problem(403,
                   "only root and the user who runs the service can create tokens for others, or "
                   "with scope agent or operate");
  }
  if (*scope == Scope::agent && !boxes::is_box_name(asked->name)) {
    return problem(
        400, asked->name.empty()
                 ? "a token with scope agent requires the name of its box as name"
                 : asked->name + " cannot be the name of a box: use letters, digits, -, _ and .");
  }
  const Time now = wall_clock();
  const auto made = tokens_.make({.name = asked->name,
                                  .uid = static_cast<std::uint32_t>(uid),
                                  .scope = *scope,
                                  .expires = now + Duration(std::llround(lifetime_s * 1e3))},
                                 now);
  if (!made) return problem(made.error());
  Json told = to_json(made->token);
  told["token"] = made->secret;
  Answer answer = json(dumped(told));
  answer.status = 201;
  return answer;
}

}  // namespace almanac::serve
