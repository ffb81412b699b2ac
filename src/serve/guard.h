// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides whether a request is let in, and as which user's.
///
/// By the Unix socket a user is the one that the kernel says. By TCP every user of this machine,
/// and any page in their browsers, can send anything: so a Host that is not this machine is refused
/// (a name that was made to point here), so is a change that another site's page asks for, and a
/// change needs a token (tokens.h). Who comes from another machine needs one to look, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
  /// Why a log of the user `uid` is not shown, or nothing: it may say what is for that user alone.
  std::optional<Answer> refuses_log(const Ask& ask, std::uint32_t uid) const;
  /// Why no job is taken of `caller`, who asks: a token never acts as root, and one that has just
  /// been revoked as nobody.
  static std::optional<Answer> refuses_job(const Ask& ask, const service::Caller& caller);
  /// The user who asks, of a request that is not refused and changes something. Nobody, a user that
  /// has nothing, where the token has been revoked meanwhile.
  service::Caller caller(const Ask& ask) const;

  static bool changes(const Ask& ask) { return ask.method != "GET" && ask.method != "HEAD"; }

 private:
  std::optional<Token> token_of(const Ask& ask) const;
  std::optional<Answer> refuses_without_token(const Ask& ask, const char* what, Scope least) const;

  const Tokens& tokens_;
  std::uint32_t owner_;
};

}  // namespace almanac::serve
