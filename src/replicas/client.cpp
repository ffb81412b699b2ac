// SPDX-License-Identifier: Apache-2.0
#include "replicas/client.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace almanac::replicas {
namespace {

/// Polls for `events`; the events seen, 0 = none within `patience`.
short poll_for(int socket, short events, Duration patience) {
  pollfd each{.fd = socket, .events = events, .revents = 0};
  const int seen = ::poll(&each, 1, static_cast<int>(patience.count()));
  return seen > 0 ? each.revents : static_cast<short>(0);
}

}  // namespace

bool Held::add(std::size_t bytes) {
  if (now_.fetch_add(bytes) + bytes <= most_) return true;
  now_ -= bytes;
  return false;
}

Client::Client(int socket, Held& held, const Limits& limits)
    : socket_(socket), held_(held), limits_(limits) {}

Client::~Client() {
  begin_request();
  if (is_refused_) {
    constexpr Duration kPatience{500};
    const auto until = std::chrono::steady_clock::now() + 4 * kPatience;
    std::array<char, 65'536> rest;
    ::shutdown(socket_, SHUT_WR);
    while (std::chrono::steady_clock::now() < until && await(kPatience)) {
      if (::recv(socket_, rest.data(), rest.size(), 0) <= 0) break;
    }
  }
  ::close(socket_);
}

bool Client::await(Duration patience) const {
  return (poll_for(socket_, POLLIN, patience) & POLLIN) != 0;
}

void Client::begin_request() {
  held_.remove(held_bytes_);
  held_bytes_ = 0;
  until_ = std::chrono::steady_clock::now() + limits_.request;
}

bool Client::is_readable() const {
  const auto left = std::chrono::duration_cast<Duration>(until_ - std::chrono::steady_clock::now());
  return left > Duration{0} && await(std::min(left, limits_.read));
}

ssize_t Client::read(char* to, std::size_t size) {
  if (refusal_ != Refusal::none || !is_readable()) return -1;
  const ssize_t got = ::recv(socket_, to, size, 0);
  if (got <= 0) return got;
  const auto bytes = static_cast<std::size_t>(got);
  if (held_bytes_ + bytes > limits_.request_bytes)
    refusal_ = Refusal::too_large;
  else if (!held_.add(bytes))
    refusal_ = Refusal::no_room;
  if (refusal_ != Refusal::none) {
    refuse();
    return -1;
  }
  held_bytes_ += bytes;
  return got;
}

ssize_t Client::write(const char* from, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    if (!is_writable()) return -1;
    const ssize_t sent = ::send(socket_, from + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return -1;
    done += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  }
  return static_cast<ssize_t>(size);
}

bool Client::is_writable() const {
  const short seen = poll_for(socket_, POLLOUT, limits_.write);
  return (seen & POLLOUT) != 0 && (seen & (POLLERR | POLLHUP)) == 0;
}

bool Client::has_left() const {
  return (poll_for(socket_, POLLRDHUP, Duration{0}) & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace almanac::replicas
