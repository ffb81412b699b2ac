// SPDX-License-Identifier: Apache-2.0
#include "process/keeper.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/below.h"
#include "process/tree.h"

namespace almanac::process {
namespace {

using Clock = std::chrono::steady_clock;

/// A keeper whose owner is gone gives the command so long to end in good order.
constexpr std::chrono::milliseconds kOrphanGrace{1000};
/// What does not die of SIGKILL sits in the kernel; waiting longer would not help.
constexpr std::chrono::seconds kPatience{10};

void say(int socket, const Message& message) {
  static_cast<void>(::send(socket, &message, sizeof message, MSG_NOSIGNAL));
}

/// In the child: becomes the command, or tells why not on `report`.
[[noreturn]] void become(const Start& start, int report) {
  Step failed = prepare(start);
  if (failed == Step::none) failed = enter(start);
  if (failed == Step::none) {
    execute(start);
    failed = Step::exec;
  }
  const Message message{Message::Kind::failed, errno, failed};
  static_cast<void>(::write(report, &message, sizeof message));
  ::_exit(127);
}

class Keeper {
 public:
  Keeper(int socket, int signals, pid_t command)
      : socket_(socket), signals_(signals), command_(command) {}

  [[noreturn]] void run() {
    for (;;) {
      reap();
      std::array<pollfd, 2> wait{{{socket_, POLLIN, 0}, {signals_, POLLIN, 0}}};
      ::poll(wait.data(), wait.size(), -1);
      if (wait[0].revents == 0) continue;
      Message order;
      const bool told = ::recv(socket_, &order, sizeof order, 0) == sizeof order;
      const int left = end_all(told ? std::chrono::milliseconds(order.value) : kOrphanGrace);
      say(socket_, {Message::Kind::gone, left, {}});
      ::_exit(0);
    }
  }

 private:
  /// Tells when the command ends; false once there is no child.
  bool reap() {
    signalfd_siginfo ignored;
    while (::read(signals_, &ignored, sizeof ignored) > 0) {
    }
    return process::reap([&](pid_t ended, int status) {
      if (ended == command_) say(socket_, {Message::Kind::ended, status, {}});
    });
  }

  /// Asks all to end, then makes them; gives how many are left.
  int end_all(std::chrono::milliseconds grace) {
    if (!reap()) return 0;
    Asking asking;
    if (grace.count() > 0) asking.all();
    const auto asked = Clock::now();
    for (;;) {
      if (!reap()) return 0;
      const auto passed = Clock::now() - asked;
      if (passed > grace + kPatience) return static_cast<int>(descendants(::getpid()).size());
      passed < grace ? asking.orphans() : kill_all_below();
      pollfd wait{signals_, POLLIN, 0};
      ::poll(&wait, 1, 10);
    }
  }

  int socket_;
  int signals_;
  pid_t command_;
};

}  // namespace

void keep(const Start& start, int socket) {
  ::setsid();
  become_reaper();
  // What the terminal or an operator sends is for our owner, which tells us.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &child, nullptr);
  const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);

  std::array<int, 2> report{};
  pid_t command = -1;
  if (signals < 0 || ::pipe2(report.data(), O_CLOEXEC) != 0 || (command = ::fork()) < 0) {
    say(socket, {Message::Kind::failed, errno, Step::fork});
    ::_exit(0);
  }
  if (command == 0) become(start, report[1]);
  ::close(report[1]);
  Message failure;
  if (::read(report[0], &failure, sizeof failure) == sizeof failure) {
    ::waitpid(command, nullptr, 0);
    say(socket, failure);
    ::_exit(0);
  }
  // The keeper must not hold open what its owner waits to see closed.
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, standard);
  const auto low = static_cast<unsigned>(std::min(socket, signals));
  const auto high = static_cast<unsigned>(std::max(socket, signals));
  ::close_range(3, low - 1, 0);  // an empty range is refused, and does no harm
  ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0U, 0);
  say(socket, {Message::Kind::started, static_cast<std::int32_t>(command), {}});
  Keeper(socket, signals, command).run();
}

}  // namespace almanac::process
