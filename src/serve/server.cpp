// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <utility>

#include <unistd.h>

#include "serve/guard.h"
#include "serve/sockets.h"
#include "serve/token.h"

namespace almanac::serve {

std::string socket_of(const std::string& state) { return state + "/almanac.sock"; }

Server::Server(live::Service& service, std::string socket, std::string token, std::string page)
    : socket_(std::move(socket)),
      token_(std::move(token)),
      api_(service, Guard(token_, ::geteuid()), std::move(page)) {}

Server::~Server() {
  listener_.reset();
  ::unlink(socket_.c_str());
}

Result<std::unique_ptr<Server>> Server::start(live::Service& service, Config config) {
  const std::string& state = service.state();
  auto token = keep_token(state + "/token");
  if (!token) return tl::unexpected(token.error());
  std::vector<process::Descriptor> sockets;
  std::optional<int> port;
  if (config.port) {
    auto tcp = listen_loopback(*config.port);
    if (!tcp) return tl::unexpected(tcp.error());
    port = port_of(*tcp);
    sockets.push_back(std::move(*tcp));
  }
  auto local = listen_unix(socket_of(state));
  if (!local) return tl::unexpected(local.error());
  sockets.push_back(std::move(*local));
  std::unique_ptr<Server> made(
      new Server(service, socket_of(state), *std::move(token), std::move(config.page)));
  made->port_ = port;
  auto listener = Listener::start(
      std::move(sockets), [&api = made->api_](const Ask& ask) { return api.answer(ask); },
      config.limits);
  if (!listener) return tl::unexpected(listener.error());
  made->listener_ = *std::move(listener);
  return made;
}

}  // namespace almanac::serve
