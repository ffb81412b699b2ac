// SPDX-License-Identifier: Apache-2.0
#include "process/job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/check.h"
#include "process/cgroup.h"
#include "process/keeper.h"

namespace almanac::process {
namespace {

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> made;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    const bool changed = std::any_of(command.environment.begin(), command.environment.end(),
                                     [&](const auto& change) { return change.first == name; });
    const bool hidden =
        std::any_of(command.hidden.begin(), command.hidden.end(),
                    [&](const std::string& prefix) { return name.starts_with(prefix); });
    if (!changed && !hidden) made.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.environment) made.push_back(name + "=" + value);
  return made;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

/// Waits for the next packet; false when the keeper is gone.
bool receive(int socket, Message& message) {
  for (;;) {
    const ssize_t got = ::recv(socket, &message, sizeof message, 0);
    if (got == sizeof message) return true;
    if (got >= 0 || errno != EINTR) return false;
  }
}

}  // namespace

Ending ending_from(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {.status = 0, .signal = WTERMSIG(wait_status)};
  return {.status = WEXITSTATUS(wait_status), .signal = 0};
}

std::string to_string(const Ending& ending) {
  if (ending.signal == 0) return fmt::format("exit status {}", ending.status);
  return fmt::format("killed by signal {} ({})", ending.signal, ::strsignal(ending.signal));
}

Result<Job> Job::start(const Command& command) {
  ALMANAC_CHECK(!command.argv.empty(), "a command without a program");
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> environment = environment_of(command);
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> environment_pointers = pointers(environment);
  Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Start start{.argv = argv_pointers.data(),
                    .environment = environment_pointers.data(),
                    .directory = command.directory.empty() ? nullptr : command.directory.c_str(),
                    .cpus = command.cpus.data(),
                    .cpu_count = static_cast<int>(command.cpus.size()),
                    .out = command.out,
                    .err = command.err,
                    .cgroup_procs = command.cgroup == nullptr ? -1 : command.cgroup->procs()};
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(Code::unavailable, fmt::format("cannot create a socket: {}", std::strerror(errno)));
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t keeper = ::fork();
  if (keeper < 0) {
    return fail(Code::unavailable, fmt::format("cannot fork: {}", std::strerror(errno)));
  }
  if (keeper == 0) {
    ::dup2(null.get(), STDIN_FILENO);
    ours.close();
    keep(start, theirs.get());
  }
  theirs.close();
  Job job(std::move(ours), keeper);
  Message first;
  if (receive(job.socket_.get(), first) && first.kind == Message::Kind::started) {
    job.process_ = first.value;
    return job;
  }
  if (first.kind != Message::Kind::failed) first = {Message::Kind::failed, ECHILD, Step::fork};
  return tl::unexpected(
      step_error(first.detail, first.value, command.argv.front(), command.directory));
}

const std::optional<Ending>& Job::ended() {
  pollfd wait{socket_.get(), POLLIN, 0};
  while (!ending_ && socket_ && ::poll(&wait, 1, 0) > 0) {
    Message message;
    if (!receive(socket_.get(), message)) {
      // The keeper was killed: what became of the command cannot be told.
      ending_ = Ending{.status = 0, .signal = SIGKILL};
    } else if (message.kind == Message::Kind::ended) {
      ending_ = ending_from(message.value);
    }
  }
  return ending_;
}

int Job::end(Duration grace) {
  if (keeper_ < 0) return 0;
  int left = 0;
  const Message order{Message::Kind::end, static_cast<std::int32_t>(grace.count()), {}};
  if (socket_ && ::send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL) == sizeof order) {
    Message message;
    while (receive(socket_.get(), message)) {
      if (message.kind == Message::Kind::gone) left = message.value;
    }
  }
  socket_.close();
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
  keeper_ = -1;
  return left;
}

Job::Job(Job&& other) noexcept
    : socket_(std::move(other.socket_)),
      keeper_(std::exchange(other.keeper_, -1)),
      process_(std::exchange(other.process_, -1)),
      ending_(std::exchange(other.ending_, std::nullopt)) {}

Job& Job::operator=(Job&& other) noexcept {
  if (this != &other) {
    end(Duration{0});
    socket_ = std::move(other.socket_);
    keeper_ = std::exchange(other.keeper_, -1);
    process_ = std::exchange(other.process_, -1);
    ending_ = std::exchange(other.ending_, std::nullopt);
  }
  return *this;
}

Job::~Job() { end(Duration{0}); }

}  // namespace almanac::process
