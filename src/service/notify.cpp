// SPDX-License-Identifier: Apache-2.0
#include "service/notify.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "text/number.h"

namespace almanac::service {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// Sends one datagram to the manager. A manager that does not listen is none of our concern.
void send(const std::string& state) {
  const std::string_view path = variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool is_known = path.starts_with('/') || path.starts_with('@');
  if (!is_known || path.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // abstract, without a file
  const process::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return;
  ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size()));
}

/// The time that the manager allows between two signs of life of this process.
std::optional<std::chrono::microseconds> watchdog_time() {
  const std::string_view process = variable("WATCHDOG_PID");
  if (!process.empty() && text::parse_whole(process) != std::int64_t{::getpid()}) return {};
  const auto us = text::parse_whole(variable("WATCHDOG_USEC"));
  if (!us || *us <= 0) return {};
  return std::chrono::microseconds(*us);
}

}  // namespace

void tell_ready(std::string_view status) { send(fmt::format("READY=1\nSTATUS={}", status)); }

void tell_reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", us));
}

void tell_stopping() { send("STOPPING=1"); }

Beginning::Beginning(Duration every) {
  constexpr std::chrono::nanoseconds kSomething = 1ms;
  const auto used = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto us = std::chrono::microseconds(std::max<Duration>(6 * every, 1min)).count();
  thread_ = std::jthread([=](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any news;
    std::unique_lock lock(mutex);
    for (auto before = used();;) {
      news.wait_for(lock, stop, every, [] { return false; });
      if (stop.stop_requested()) return;
      const auto now = used();
      if (now - before < kSomething) continue;
      send(fmt::format("EXTEND_TIMEOUT_USEC={}", us));
      before = now;
    }
  });
}

Watchdog::Watchdog(const Clock& clock) : clock_(clock) {
  const auto allowed = watchdog_time();
  if (allowed) patience_ = std::chrono::duration_cast<Duration>(*allowed / 4);
}

void Watchdog::alive() {
  if (patience_ == kAlways || clock_.monotonic() < due_) return;
  send("WATCHDOG=1");
  due_ = clock_.monotonic() + patience_;
}

}  // namespace almanac::service
