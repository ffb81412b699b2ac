// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides whether a request is accepted, and as which user.
///
/// On the Unix socket, the kernel names the user. Over TCP, every user of this machine, and any
/// page in their browsers, can send anything. So a Host other than this machine (a name that was
/// made to point here) is refused, as is a change requested by another site's page, and a change
/// needs a token (tokens.h). A client on another machine needs a token to read, too, except
/// /healthz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "serve/message.h"
#include "serve/tokens.h"
#include "service/service.h"

namespace almanac::serve {

class Guard {
 public:
  /// `owner` runs the service; `tokens` outlives this.
  Guard(const Tokens& tokens, std::uint32_t owner) : tokens_(tokens), owner_(owner) {}

  /// Why the request is refused, or nothing.
  std::optional<Answer> refuses(const Ask& ask) const;
  /// Returns the box that `path` is for, if only a box may use it: "/v1/boxes/NAME/report", and
  /// "logs" or "output" instead. "" for any other path.
  static std::string box_of(std::string_view path);
  /// Why a log of the user `uid` is not shown, or nothing: it may say what is for that user alone.
  std::optional<Answer> refuses_log(const Ask& ask, std::uint32_t uid) const;
  /// Returns why no job is accepted from `caller`: a token never acts as root, and a token that was
  /// just revoked acts as no user.
  static std::optional<Answer> refuses_job(const Ask& ask, const service::Caller& caller);
  /// Returns the user of an accepted request that changes something. A user without any rights, if
  /// the token has been revoked meanwhile.
  service::Caller caller(const Ask& ask) const;

  static bool changes(const Ask& ask) { return ask.method != "GET" && ask.method != "HEAD"; }

 private:
  std::optional<Answer> refuses_box(const Ask& ask, const std::string& box) const;
  std::optional<Token> token_of(const Ask& ask) const;
  std::optional<Answer> refuses_without_token(const Ask& ask, const char* what, Scope least) const;

  const Tokens& tokens_;
  std::uint32_t owner_;
};

}  // namespace almanac::serve
