// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a client asks and what it is answered, without the library that carries it.
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
  /// Whose connections share limits: a user, also one of this machine that comes by TCP; else an
  /// address. Who may do what it does not say.
  std::uint64_t client = 0;
  bool is_here = false;  ///< On this machine, by its address.
  bool is_tls = false;   ///< Encrypted, and sure to have asked for this service.
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
