// SPDX-License-Identifier: Apache-2.0
#include "script/talk.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace almanac::script {

Broken::Broken(std::string message, Code code)
    : error{code, "policy -: " + std::move(message), {}, {}} {}

void Talk::wait_for(int end, short event, std::string_view otherwise) const {
  pollfd wait{end, event, 0};
  int heard = 0;
  do {
    heard = ::poll(&wait, 1, static_cast<int>(patience_.count()));
  } while (heard < 0 && errno == EINTR);
  if (heard != 0) return;
  throw Broken(fmt::format("the program that decides has {} for {:g} minutes", otherwise,
                           seconds(patience_) / 60),
               Code::unavailable);
}

void Talk::say(std::string_view line) {
  std::string all(line);
  all += '\n';
  for (std::size_t sent = 0; sent < all.size();) {
    wait_for(to_, POLLOUT, "read nothing");
    // A pipe that can be written to takes that much without blocking.
    const ssize_t now =
        ::write(to_, all.data() + sent, std::min<std::size_t>(all.size() - sent, PIPE_BUF));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) {
      throw Broken(std::string("cannot write to the program that decides: ") + std::strerror(errno),
                   Code::unavailable);
    }
    sent += static_cast<std::size_t>(now);
  }
}

std::string Talk::hear() {
  for (;;) {
    const std::size_t end = read_.find('\n', given_);
    if (end != std::string::npos) {
      std::string line = read_.substr(given_, end - given_);
      given_ = end + 1;
      return line;
    }
    read_.erase(0, std::exchange(given_, 0));
    if (read_.size() > kLongestLine) {
      throw Broken(
          fmt::format("the program that decides wrote a line of more than {} bytes", kLongestLine));
    }
    wait_for(from_, POLLIN, "been silent");
    std::array<char, 65536> more;
    const ssize_t now = ::read(from_, more.data(), more.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      throw Broken("the program that decides ended before the simulation", Code::unavailable);
    }
    read_.append(more.data(), static_cast<std::size_t>(now));
  }
}

}  // namespace almanac::script
