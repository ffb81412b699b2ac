// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service over HTTP: STATE/almanac.sock, and TCP if an address is given.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "serve/api.h"
#include "serve/limits.h"
#include "serve/listener.h"
#include "serve/sockets.h"
#include "serve/tokens.h"
#include "service/service.h"

namespace almanac::serve {

struct Config {
  std::optional<Address> listen{};  ///< Nothing for the Unix socket only.
  std::string certificate{};        ///< PEM, for TCP; "" for no encryption.
  std::string key{};                ///< Its key.
  std::string page{};               ///< The dashboard.
  Limits limits{};
  boxes::Head* head = nullptr;  ///< Null if no boxes may join; outlives the server.
};

class Server {
 public:
  /// Answers from now on, until it is destroyed. `service` outlives it.
  static Result<std::unique_ptr<Server>> start(service::Service& service, Config config);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  const std::string& socket() const { return socket_; }
  std::optional<int> port() const { return port_; }
  /// Changes over TCP must present one of these.
  Tokens& tokens() { return tokens_; }

 private:
  Server(service::Service& service, std::string socket, Tokens tokens, std::string page);

  std::string socket_;
  Tokens tokens_;
  std::optional<int> port_;
  Api api_;
  std::unique_ptr<Listener> listener_;
};

/// Returns the socket of a state folder.
std::string socket_of(const std::string& state);

}  // namespace almanac::serve
