// SPDX-License-Identifier: Apache-2.0
#include "shepherd/report.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace almanac::shepherd {

using process::Descriptor;

namespace {

/// Room for the descriptors of two files in a packet.
union Control {
  cmsghdr header;
  std::array<char, CMSG_SPACE(2 * sizeof(int))> bytes;
};

}  // namespace

bool send_report(int socket, Report report, const std::vector<Descriptor>& files) {
  Control control{};
  iovec content{&report, sizeof report};
  msghdr packet{};
  packet.msg_iov = &content;
  packet.msg_iovlen = 1;
  if (!files.empty()) {
    packet.msg_control = control.bytes.data();
    packet.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    for (std::size_t at = 0; at < files.size(); ++at) {
      const int number = files[at].get();
      std::memcpy(CMSG_DATA(header) + at * sizeof(int), &number, sizeof number);
    }
  }
  return ::sendmsg(socket, &packet, MSG_NOSIGNAL) == sizeof report;
}

bool receive_report(int socket, Report& report, std::vector<Descriptor>& files) {
  Control control{};
  iovec content{&report, sizeof report};
  msghdr packet{};
  packet.msg_iov = &content;
  packet.msg_iovlen = 1;
  packet.msg_control = control.bytes.data();
  packet.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &packet, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got != sizeof report) return false;
  const cmsghdr* const header = CMSG_FIRSTHDR(&packet);
  if (header == nullptr) return true;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t at = 0; at < count; ++at) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header) + at * sizeof(int), sizeof number);
    files.emplace_back(number);
  }
  return true;
}

}  // namespace almanac::shepherd
