// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service over HTTP: STATE/almanac.sock, and 127.0.0.1 where a port is given.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/service.h"
#include "serve/api.h"
#include "serve/limits.h"
#include "serve/listener.h"

namespace almanac::serve {

struct Config {
  std::optional<int> port{};  ///< None = the Unix socket only; 0 = any that is free.
  std::string page{};         ///< The dashboard.
  Limits limits{};
};

class Server {
 public:
  /// Answers from now on, until it is destroyed. `service` outlives it.
  static Result<std::unique_ptr<Server>> start(live::Service& service, Config config);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  const std::string& socket() const { return socket_; }
  std::optional<int> port() const { return port_; }
  /// The token that a change by TCP must show.
  const std::string& token() const { return token_; }

 private:
  Server(live::Service& service, std::string socket, std::string token, std::string page);

  std::string socket_;
  std::string token_;
  std::optional<int> port_;
  Api api_;
  std::unique_ptr<Listener> listener_;
};

/// Where the socket of a state folder is.
std::string socket_of(const std::string& state);

}  // namespace almanac::serve
