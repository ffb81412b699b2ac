// SPDX-License-Identifier: Apache-2.0
#include "serve/sockets.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/check.h"

namespace almanac::serve {
namespace {

using process::Descriptor;

constexpr int kBacklog = 128;

Descriptor new_socket(int family) {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Whether a process accepts connections there.
bool is_answered(const sockaddr_un& address) {
  const Descriptor probe = new_socket(AF_UNIX);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno == EAGAIN;
}

}  // namespace

Result<Descriptor> listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(Code::usage,
                fmt::format("a socket's path has at most {} letters", sizeof address.sun_path - 1),
                {.file = path}, "give a state folder with a shorter name");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) {
      return fail(Code::conflict, "is there and is no socket", {.file = path}, "move it away");
    }
    if (is_answered(address)) {
      return fail(Code::conflict, "another service answers here", {.file = path},
                  "stop it, or give another state folder");
    }
    ::unlink(path.c_str());
  }
  Descriptor socket = new_socket(AF_UNIX);
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0666) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return fail(Code::unavailable, fmt::format("cannot listen: {}", std::strerror(errno)),
                {.file = path});
  }
  return socket;
}

Result<Descriptor> listen_loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor socket = new_socket(AF_INET);
  constexpr int kYes = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes) != 0 ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return fail(errno == EADDRINUSE ? Code::conflict : Code::unavailable,
                fmt::format("cannot listen on 127.0.0.1:{}: {}", port, std::strerror(errno)), {},
                "give another port with --listen 127.0.0.1:PORT");
  }
  return socket;
}

int port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const int status = ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  ALMANAC_CHECK(status == 0 && address.sin_family == AF_INET, "{}", std::strerror(errno));
  return ntohs(address.sin_port);
}

Peer peer_of(const Descriptor& connection) {
  int family = 0;
  socklen_t size = sizeof family;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
      family != AF_UNIX) {
    return {};
  }
  ucred who{};
  size = sizeof who;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return {};
  return {.is_local = true, .uid = who.uid, .gid = who.gid, .process = who.pid};
}

}  // namespace almanac::serve
