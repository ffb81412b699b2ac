// SPDX-License-Identifier: Apache-2.0
#include "serve/sockets.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

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

/// Clients that are no users have numbers beyond those of users; of IPv6 beyond those of IPv4.
constexpr std::uint64_t kAddresses = std::uint64_t{1} << 32;
constexpr std::uint64_t kAddressesV6 = std::uint64_t{1} << 63;

/// An end of a connection of TCP: of IPv4, or of IPv6.
struct End {
  sockaddr_storage address{};
  socklen_t size = sizeof address;

  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&address); }
  const sockaddr_in& v4() const { return reinterpret_cast<const sockaddr_in&>(address); }
  const sockaddr_in6& v6() const { return reinterpret_cast<const sockaddr_in6&>(address); }
  bool is_v6() const { return address.ss_family == AF_INET6; }
  in_port_t port() const { return is_v6() ? v6().sin6_port : v4().sin_port; }
  /// Its number, of 4 or 16 bytes.
  std::string_view number() const {
    return is_v6() ? std::string_view(reinterpret_cast<const char*>(&v6().sin6_addr), 16)
                   : std::string_view(reinterpret_cast<const char*>(&v4().sin_addr), 4);
  }
  bool is_this_machine() const {
    return is_v6() ? IN6_IS_ADDR_LOOPBACK(&v6().sin6_addr) != 0
                   : (ntohl(v4().sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  /// Returns the client's number. A host with one IPv6 address has a whole /64 prefix, so all
  /// addresses of the prefix count as one client.
  std::uint64_t client() const {
    if (!is_v6()) return kAddresses + v4().sin_addr.s_addr;
    std::uint64_t prefix = 0;
    std::memcpy(&prefix, number().data(), sizeof prefix);
    return kAddressesV6 | prefix;
  }
};

/// The user of this machine at the other end of a connection of TCP, if it is one; as the kernel
/// knows now.
std::optional<std::uint32_t> user_of(const End& theirs, const End& ours) {
  const Descriptor kernel(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  struct {
    nlmsghdr head{};
    inet_diag_req_v2 asked{};
  } question;
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.asked.sdiag_family = static_cast<std::uint8_t>(theirs.address.ss_family);
  question.asked.sdiag_protocol = IPPROTO_TCP;
  question.asked.idiag_states = ~0U;
  question.asked.id.idiag_sport = theirs.port();
  question.asked.id.idiag_dport = ours.port();
  std::memcpy(question.asked.id.idiag_src, theirs.number().data(), theirs.number().size());
  std::memcpy(question.asked.id.idiag_dst, ours.number().data(), ours.number().size());
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

/// Returns the peer of a TCP connection.
Peer peer_by_tcp(const Descriptor& connection) {
  Peer peer{.client = kAddresses};
  End theirs;
  End ours;
  if (::getpeername(connection.get(), theirs.raw(), &theirs.size) != 0) return peer;
  peer.client = theirs.client();
  peer.is_here = theirs.is_this_machine();
  if (::getsockname(connection.get(), ours.raw(), &ours.size) == 0 &&
      theirs.number() == ours.number()) {
    if (const auto user = user_of(theirs, ours)) peer.client = *user;
  }
  return peer;
}

}  // namespace

Result<Descriptor> listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(
        Code::usage,
        fmt::format("a socket's path may have at most {} characters", sizeof address.sun_path - 1),
        {.file = path}, "give a state folder with a shorter name");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) {
      return fail(Code::conflict, "exists and is not a socket", {.file = path}, "move it away");
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
  End own;
  const auto port = htons(static_cast<std::uint16_t>(at.port));
  const int family = at.is_v6() ? AF_INET6 : AF_INET;
  own.address.ss_family = static_cast<sa_family_t>(family);
  auto& v4 = reinterpret_cast<sockaddr_in&>(own.address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(own.address);
  (at.is_v6() ? v6.sin6_port : v4.sin_port) = port;
  own.size = at.is_v6() ? sizeof v6 : sizeof v4;
  void* const number = at.is_v6() ? static_cast<void*>(&v6.sin6_addr) : &v4.sin_addr;
  if (::inet_pton(family, at.host.c_str(), number) != 1) {
    return fail(Code::usage, fmt::format("{} is not an address", at.host), {},
                "such as 127.0.0.1 or ::1, or 0.0.0.0 or :: for all");
  }
  Descriptor socket = new_socket(family);
  constexpr int kYes = 1;
  const auto set = [&](int level, int option) {
    return ::setsockopt(socket.get(), level, option, &kYes, sizeof kYes) == 0;
  };
  // One of IPv6 takes no clients of IPv4, whose addresses would look otherwise there.
  if (!socket || !set(SOL_SOCKET, SO_REUSEADDR) ||
      (at.is_v6() && !set(IPPROTO_IPV6, IPV6_V6ONLY)) ||
      ::bind(socket.get(), own.raw(), own.size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return fail(
        errno == EADDRINUSE ? Code::conflict : Code::unavailable,
        fmt::format("cannot listen on {}:{}: {}", at.in_url(), at.port, std::strerror(errno)), {},
        "give another port with --listen ADDRESS:PORT");
  }
  return socket;
}

int port_of(const Descriptor& socket) {
  End own;
  const int status = ::getsockname(socket.get(), own.raw(), &own.size);
  ALMANAC_CHECK(status == 0, "{}", std::strerror(errno));
  return ntohs(own.port());
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
