// SPDX-License-Identifier: Apache-2.0
#include "serve/sockets.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
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

/// Clients that are no users have numbers beyond those of users.
constexpr std::uint64_t kAddresses = std::uint64_t{1} << 32;

/// The user of this machine at the other end of a connection of TCP, if it is one; as the kernel
/// knows now.
std::optional<std::uint32_t> user_of(const sockaddr_in& theirs, const sockaddr_in& ours) {
  const Descriptor kernel(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  struct {
    nlmsghdr head{};
    inet_diag_req_v2 asked{};
  } question;
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.asked.sdiag_family = AF_INET;
  question.asked.sdiag_protocol = IPPROTO_TCP;
  question.asked.idiag_states = ~0U;
  question.asked.id.idiag_sport = theirs.sin_port;
  question.asked.id.idiag_dport = ours.sin_port;
  question.asked.id.idiag_src[0] = theirs.sin_addr.s_addr;
  question.asked.id.idiag_dst[0] = ours.sin_addr.s_addr;
  question.asked.id.idiag_cookie[0] = question.asked.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  alignas(nlmsghdr) std::array<char, 1024> answer{};
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) != sizeof question) return {};
  const ssize_t size = ::recv(kernel.get(), answer.data(), answer.size(), 0);
  nlmsghdr head{};
  inet_diag_msg said{};
  if (size < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof said)) return {};
  std::memcpy(&head, answer.data(), sizeof head);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return {};
  std::memcpy(&said, answer.data() + NLMSG_HDRLEN, sizeof said);
  return said.idiag_uid;
}

/// Of whoever came by TCP.
Peer peer_by_tcp(const Descriptor& connection) {
  Peer peer{.client = kAddresses};
  sockaddr_in theirs{};
  sockaddr_in ours{};
  socklen_t size = sizeof theirs;
  if (::getpeername(connection.get(), reinterpret_cast<sockaddr*>(&theirs), &size) != 0) {
    return peer;
  }
  peer.client = kAddresses + theirs.sin_addr.s_addr;
  peer.is_here = (ntohl(theirs.sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  size = sizeof ours;
  if (::getsockname(connection.get(), reinterpret_cast<sockaddr*>(&ours), &size) == 0 &&
      theirs.sin_addr.s_addr == ours.sin_addr.s_addr) {
    if (const auto user = user_of(theirs, ours)) peer.client = *user;
  }
  return peer;
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

Result<Descriptor> listen_tcp(const Address& at) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(at.port));
  if (::inet_pton(AF_INET, at.host.c_str(), &address.sin_addr) != 1) {
    return fail(Code::usage, fmt::format("{} is no address of IPv4", at.host), {},
                "such as 127.0.0.1, or 0.0.0.0 for all");
  }
  Descriptor socket = new_socket(AF_INET);
  constexpr int kYes = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes) != 0 ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return fail(errno == EADDRINUSE ? Code::conflict : Code::unavailable,
                fmt::format("cannot listen on {}:{}: {}", at.host, at.port, std::strerror(errno)),
                {}, "give another port with --listen ADDRESS:PORT");
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
    return peer_by_tcp(connection);
  }
  ucred who{};
  size = sizeof who;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return {.client = kAddresses};
  }
  return {.is_local = true, .uid = who.uid, .gid = who.gid, .process = who.pid, .client = who.uid};
}

}  // namespace almanac::serve
