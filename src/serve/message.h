// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests and answers, without the library that transports them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace almanac::serve {

/// The other end of a connection.
struct Peer {
  bool is_local = false;  ///< Came by the Unix socket: the kernel says which user it is.
  std::uint32_t uid = 0;  ///< Of a local peer.
  std::uint32_t gid = 0;
  pid_t process = 0;
  /// Client for limits on connections: a user, including one of this machine over TCP, otherwise an
  /// address. Does not decide permissions.
  std::uint64_t client = 0;
  bool is_here = false;  ///< On this machine, by its address.
  bool is_tls = false;   ///< Encrypted, so the client has verified this service.
};

struct Ask {
  std::string method{};
  std::string path{};                            ///< Decoded, without the query.
  std::map<std::string, std::string> query{};    ///< Decoded; of a name given twice the first.
  std::map<std::string, std::string> headers{};  ///< Names in lower case; of two the first.
  std::string body{};
  Peer peer{};

  const std::string* header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? nullptr : &found->second;
  }
};

struct Answer {
  int status = 200;
  std::string body{};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Called by several threads at once.
using Handler = std::function<Answer(const Ask&)>;

}  // namespace almanac::serve
