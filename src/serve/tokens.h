// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tokens for access over TCP, each with a user, a scope and an expiry.
///
/// A token is 256 random bits that are shown once; the file only has their SHA-256. The file in the
/// state folder is rewritten atomically with every change.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::serve {

/// What the holder of a token may do; each scope includes the earlier ones, except `agent`.
enum class Scope : std::uint8_t {
  agent,    ///< Only report as the box that the token's name gives (boxes/head.h).
  read,     ///< Look at everything that all users see, and at the user's own logs.
  own,      ///< Submit jobs as the user, and change the user's own.
  operate,  ///< Change the jobs of all, nodes and policies.
};

/// "agent", "read", "own", "operate".
const char* to_string(Scope scope);
std::optional<Scope> parse_scope(std::string_view text);

struct Token {
  std::string id{};    ///< To revoke it by; not secret.
  std::string name{};  ///< Name chosen by its user.
  std::uint32_t uid = 0;
  Scope scope = Scope::own;
  Time made{};
  Time expires{};

  bool operator==(const Token&) const = default;
};

/// Thread-safe.
class Tokens {
 public:
  /// Reads the file of a state folder, if it exists. Fails with `invalid` if it belongs to another
  /// user or others may read it, and with `corrupt` if it is damaged.
  static Result<Tokens> open(std::string path);
  Tokens(Tokens&& other) noexcept;

  struct Made {
    Token token{};
    std::string secret{};  ///< Never shown again.
  };
  /// Fails with `conflict` if the user has too many, and with `unavailable` if it cannot be stored.
  Result<Made> make(Token asked, Time now);
  /// Returns the tokens that have not expired.
  std::vector<Token> all(Time now) const;
  /// Fails with not_found.
  Result<void> revoke(const std::string& id);
  /// Returns the token of a header "Bearer SECRET"; nothing if it is unknown or expired.
  std::optional<Token> shown(std::string_view header, Time now) const;

 private:
  struct Kept {
    Token token{};
    std::string digest{};  // SHA-256 of the secret, hexadecimal
  };
  explicit Tokens(std::string path) : path_(std::move(path)) {}
  Result<void> read();
  Result<void> write(const std::vector<Kept>& all) const;

  std::string path_;
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace almanac::serve
