// SPDX-License-Identifier: Apache-2.0

/// \file
/// The keys of agents: each node has its own, made from the service's secret and the node's name,
/// so that whoever reads one can speak for that node only. Beside the secret lies the list of keys
/// that are good no more, FILE.revoked: a line with the node's name for each. A node's next key is
/// another.
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
  /// Fails as Secret::read() does, with invalid where a line of the list names no node, and where
  /// others may write the list.
  static Result<Keys> read(const std::string& path);
  /// Keys of which none was revoked.
  explicit Keys(Secret secret) : secret_(std::move(secret)) {}

  /// What the agent of a node has as its secret: 64 hexadecimal digits.
  Secret of(const std::string& node) const;
  /// Which of its keys is good: 1 = the first.
  std::uint64_t number(const std::string& node) const;
  /// Reads the list anew where it has changed. One that cannot be read leaves what is known.
  void look();
  /// The present key of a node is good no more. Fails with invalid for no name of a node, with
  /// unavailable where the list cannot be written.
  static Result<void> revoke(const std::string& path, const std::string& node);

 private:
  Secret secret_;
  std::string list_;                           // its path; "" = there is none
  std::int64_t changed_ns_ = -1;               // when, as of the last look
  std::map<std::string, std::uint64_t> gone_;  // how many keys of a node are
};

}  // namespace almanac::agent
