// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "serve/guard.h"
#include "serve/sockets.h"
#include "service/log.h"

namespace almanac::serve {

std::string socket_of(const std::string& state) { return state + "/almanac.sock"; }

Server::Server(service::Service& service, std::string socket, Tokens tokens, std::string page)
    : socket_(std::move(socket)),
      tokens_(std::move(tokens)),
      api_(service, tokens_, Guard(tokens_, ::geteuid()), std::move(page)) {}

Server::~Server() {
  listener_.reset();
  ::unlink(socket_.c_str());
}

Result<std::unique_ptr<Server>> Server::start(service::Service& service, Config config) {
  const std::string& state = service.state();
  auto tokens = Tokens::open(state + "/tokens");
  if (!tokens) return tl::unexpected(tokens.error());
  std::unique_ptr<Tls> tls;
  if (!config.certificate.empty()) {
    auto made = Tls::of(config.certificate, config.key);
    if (!made) return tl::unexpected(made.error());
    tls = std::make_unique<Tls>(*std::move(made));
  }
  std::vector<process::Descriptor> sockets;
  std::optional<int> port;
  if (config.listen) {
    // Any user of this machine can hold a port; that must not take the service from all others.
    if (auto tcp = listen_tcp(*config.listen)) {
      port = port_of(*tcp);
      sockets.push_back(std::move(*tcp));
    } else {
      service::log_error(
          fmt::format("{}; the service answers on its Unix socket only", to_string(tcp.error())));
    }
  }
  auto local = listen_unix(socket_of(state));
  if (!local) return tl::unexpected(local.error());
  sockets.push_back(std::move(*local));
  std::unique_ptr<Server> made(
      new Server(service, socket_of(state), *std::move(tokens), std::move(config.page)));
  made->port_ = port;
  if (config.head != nullptr) made->api_.add_boxes(*config.head);
  auto listener = Listener::start(
      std::move(sockets), [&api = made->api_](const Ask& ask) { return api.answer(ask); },
      config.limits, std::move(tls));
  if (!listener) return tl::unexpected(listener.error());
  made->listener_ = *std::move(listener);
  return made;
}

}  // namespace almanac::serve
