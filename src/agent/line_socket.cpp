// SPDX-License-Identifier: Apache-2.0
#include "agent/line_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace almanac::agent {

using process::Descriptor;

namespace {

constexpr int kBacklog = 512;
constexpr timeval kGone{2, 0};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> look_up(const std::string& address, int flags) {
  if (auto checked = check_address(address); !checked) return tl::unexpected(checked.error());
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                   address.c_str() + colon + 1, &wanted, &found);
  if (failed != 0) {
    return fail(Code::unavailable, fmt::format("{}: {}", address, ::gai_strerror(failed)));
  }
  return Addresses(found, &::freeaddrinfo);
}

/// Whether a connection that has been begun is there in time; else errno says why.
bool comes(const Descriptor& socket, Duration patience) {
  pollfd source{socket.get(), POLLOUT, 0};
  if (::poll(&source, 1, static_cast<int>(patience.count())) != 1) {
    errno = ETIMEDOUT;
    return false;
  }
  socklen_t size = sizeof errno;
  int error = 0;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return false;
  errno = error;
  return error == 0;
}

}  // namespace

Result<void> check_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon != std::string::npos && colon + 1 < address.size()) return {};
  return fail(Code::usage, fmt::format("expected HOST:PORT, found {}", address));
}

Result<Descriptor> dial(const std::string& address, Duration patience) {
  const auto found = look_up(address, 0);
  if (!found) return tl::unexpected(found.error());
  for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
    Descriptor socket(
        ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) continue;
    const bool begun = ::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0;
    if (!begun && (errno != EINPROGRESS || !comes(socket, patience))) continue;
    ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
    return socket;
  }
  return fail(Code::unavailable, fmt::format("{}: {}", address, std::strerror(errno)));
}

Result<Descriptor> listen_at(const std::string& address) {
  const auto found = look_up(address, AI_PASSIVE);
  if (!found) return tl::unexpected(found.error());
  for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
    Descriptor socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, 0));
    const int yes = 1;
    if (!socket) continue;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(socket.get(), kBacklog) == 0) {
      return socket;
    }
  }
  return fail(Code::unavailable,
              fmt::format("cannot listen at {}: {}", address, std::strerror(errno)));
}

int port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

LineSocket::LineSocket(Descriptor socket, std::size_t longest)
    : socket_(std::move(socket)), lines_(longest) {
  const int yes = 1;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &kGone, sizeof kGone);
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool LineSocket::take() {
  std::array<char, 65536> part{};
  const ssize_t size = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) return false;
  lines_.add({part.data(), static_cast<std::size_t>(size)});
  return true;
}

bool LineSocket::send(std::string_view line) {
  while (!line.empty()) {
    const ssize_t size = ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    line.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace almanac::agent
