// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides whether a request is let in, and as which user's.
///
/// By the Unix socket a user is the one that the kernel says. By TCP every user of this machine,
/// and any page in their browsers, can send anything: so a Host that is not this machine is refused
/// (a name that was made to point here), so is a change that another site's page asks for, and a
/// change needs the token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "live/service.h"
#include "serve/message.h"

namespace almanac::serve {

class Guard {
 public:
  /// `owner` runs the service; "" = no token is taken.
  Guard(std::string token, std::uint32_t owner) : token_(std::move(token)), owner_(owner) {}

  /// Why the request is refused, or nothing.
  std::optional<Answer> refuses(const Ask& ask) const;
  /// Why a log of the user `uid` is not shown, or nothing: it may say what is for that user alone.
  std::optional<Answer> refuses_log(const Ask& ask, std::uint32_t uid) const;
  /// The user who asks, of a request that is not refused and changes something.
  live::Caller caller(const Ask& ask) const;

  static bool changes(const Ask& ask) { return ask.method != "GET" && ask.method != "HEAD"; }

 private:
  std::optional<Answer> refuses_without_token(const Ask& ask, const char* what) const;

  std::string token_;
  std::uint32_t owner_;
};

}  // namespace almanac::serve
