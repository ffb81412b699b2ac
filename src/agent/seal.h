// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the daemon and its agents authenticate each other: by a shared key (keys.h) that is never
/// sent. Each line is sealed (HMAC-SHA256) with a key for this connection, direction and line
/// number, so no line can be forged, changed, repeated or moved without the secret. Lines are not
/// encrypted: they contain only job numbers and utilization.
///
///   daemon  almanac-agents 1 NONCE
///   agent   SEAL almanac-agent 1 NODE NONCE
///   both    SEAL text
///
/// Both nonces are part of the keys, so an earlier conversation cannot be replayed. The daemon
/// proves its identity with its first sealed line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::agent {

/// The longest line before both know each other, in bytes.
inline constexpr std::size_t kLongestHello = 512;

/// The shared secret.
class Secret {
 public:
  /// Reads a file of 16 bytes or more, which others than its owner cannot read: fails with invalid.
  static Result<Secret> read(const std::string& path);
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  /// Derives the `number`th key of a node (keys.h), which only the owner of the secret can compute.
  Secret of_node(const std::string& node, std::uint64_t number) const;

 private:
  std::string bytes_;
};

/// Whether it may be the name of a node.
bool is_name(std::string_view text);
/// 128 random bits, in hexadecimal digits.
std::string new_nonce();

/// Seals lines in one direction, or opens them.
class Seal {
 public:
  enum class Towards : std::uint8_t { agent, daemon };
  Seal(const Secret& secret, Towards towards, const std::string& node,
       const std::string& daemon_nonce, const std::string& agent_nonce);

  /// The next line, with its newline.
  std::string close(std::string_view text);
  /// Returns the text of the next line, given without its newline; nothing if its sender lacks the
  /// secret, or if it is not the next line.
  std::optional<std::string_view> open(std::string_view line);

 private:
  using Digest = std::array<unsigned char, 32>;
  std::string mac(std::string_view text) const;

  Digest key_{};
  std::uint64_t lines_ = 0;
};

/// The daemon's first line, with its newline.
std::string greeting(const std::string& nonce);
/// Returns the nonce in it. Fails with `unsupported` for another protocol, and with `invalid` for
/// anything else.
Result<std::string> read_greeting(std::string_view line);

/// The identity that an agent claims.
struct Hello {
  std::string node{};
  std::string nonce{};
};
/// Formats the agent's first line, to be sealed.
std::string to_text(const Hello& hello);
/// Reads a sealed line; to open it, the node that it names must be known. Fails as read_greeting().
Result<Hello> read_hello(std::string_view line);

}  // namespace almanac::agent
