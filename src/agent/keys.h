// SPDX-License-Identifier: Apache-2.0

/// \file
/// The keys of agents. Each node has its own, derived from the service's secret and the node's
/// name, so that a stolen key can only impersonate that node. The file of revoked keys,
/// FILE.revoked, is next to the secret: each line is a node's name and invalidates its current key.
/// Its next key differs.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/seal.h"
#include "base/result.h"

namespace almanac::agent {

/// Not thread-safe.
class Keys {
 public:
  /// Fails like Secret::read(), with `invalid` if a line of the list does not name a node, and if
  /// others may write the list.
  static Result<Keys> read(const std::string& path);
  /// Keys without any revocation.
  explicit Keys(Secret secret) : secret_(std::move(secret)) {}

  /// Returns the secret of a node's agent: 64 hexadecimal digits.
  Secret of(const std::string& node) const;
  /// Returns the number of the valid key, from 1.
  std::uint64_t number(const std::string& node) const;
  /// Reloads the list if it has changed. If it cannot be read, keeps the known one.
  void look();
  /// Revokes the current key of a node. Fails with `invalid` for an invalid name, and with
  /// `unavailable` if the list cannot be written.
  static Result<void> revoke(const std::string& path, const std::string& node);

 private:
  Secret secret_;
  std::string list_;                           // its path; "" for none
  std::int64_t changed_ns_ = -1;               // when, as of the last look
  std::map<std::string, std::uint64_t> gone_;  // how many keys of a node are
};

}  // namespace almanac::agent
