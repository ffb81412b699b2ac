// SPDX-License-Identifier: Apache-2.0

/// \file
/// By what the daemon and its agents know each other: a key that both have (keys.h), which never
/// goes over the wire. Each line is sealed (HMAC-SHA256) with a key of this connection, this
/// direction and its place among the lines; so none can be made, changed, repeated or moved without
/// the secret. Lines are not hidden: there is nothing in them but job numbers and how busy they
/// are.
///
///   daemon  almanac-agents 1 NONCE
///   agent   SEAL almanac-agent 1 NODE NONCE
///   both    SEAL text
///
/// Both numbers used once are in the keys, so an earlier conversation is of no use. The daemon is
/// known by its first sealed line.
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

/// What both have.
class Secret {
 public:
  /// Reads a file of 16 bytes or more, which others than its owner cannot read: fails with invalid.
  static Result<Secret> read(const std::string& path);
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string& bytes() const { return bytes_; }
  /// One that only its owner can make: the `number`th of a node (keys.h).
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
  /// The text of the next line, which is given without its newline; nothing = it is not of a peer
  /// that has the secret, or not the next.
  std::optional<std::string_view> open(std::string_view line);

 private:
  using Digest = std::array<unsigned char, 32>;
  std::string mac(std::string_view text) const;

  Digest key_{};
  std::uint64_t lines_ = 0;
};

/// The daemon's first line, with its newline.
std::string greeting(const std::string& nonce);
/// The nonce in it. Fails with unsupported where it speaks another protocol, with invalid where it
/// is none.
Result<std::string> read_greeting(std::string_view line);

/// What an agent says it is.
struct Hello {
  std::string node{};
  std::string nonce{};
};
/// The agent's first line, which is to be sealed.
std::string to_text(const Hello& hello);
/// Reads a sealed line; to open it, the node that it names must be known. Fails as read_greeting().
Result<Hello> read_hello(std::string_view line);

}  // namespace almanac::agent
