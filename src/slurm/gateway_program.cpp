// SPDX-License-Identifier: Apache-2.0
#include "slurm/gateway_program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "process/held.h"
#include "process/job.h"
#include "process/own_program.h"
#include "process/pipe.h"
#include "slurm/refusals.h"
#include "slurm/wire.h"

namespace almanac::slurm {
namespace {

namespace fs = std::filesystem;
using process::Descriptor;

/// Most bytes of its last output that are reported.
constexpr std::size_t kLastWords = 2000;
/// A gateway that has nothing to release ends in less; one that has is not waited for any longer.
constexpr int kLeaveMs = 500;

tl::unexpected<Error> cannot(const std::string& what, int number) {
  return fail(Code::unavailable, fmt::format("cannot {}: {}", what, std::strerror(number)));
}

/// In a session of its own: what ends us ends it only when it has released what we hold.
int spawn(const std::string& path, const Descriptor& socket, const Descriptor& words,
          pid_t& process) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const std::unique_ptr<posix_spawn_file_actions_t, int (*)(posix_spawn_file_actions_t*)>
      free_files(&files, ::posix_spawn_file_actions_destroy);
  ::posix_spawn_file_actions_adddup2(&files, socket.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, socket.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, words.get(), STDERR_FILENO);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  const std::unique_ptr<posix_spawnattr_t, int (*)(posix_spawnattr_t*)> free_how(
      &how, ::posix_spawnattr_destroy);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::string name = "almanac-slurm-gateway";
  const std::array<char*, 2> argv{name.data(), nullptr};
  return ::posix_spawn(&process, path.c_str(), &files, &how, argv.data(), environ);
}

}  // namespace

Result<std::string> gateway_program() {
  if (const char* const named = std::getenv("ALMANAC_SLURM_GATEWAY")) return named;
  const fs::path own = process::own_program().parent_path();
  for (const char* const beside : {".", "../libexec/almanac", "../lib/almanac"}) {
    const std::string path = (own / beside / "almanac-slurm-gateway").lexically_normal().string();
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(Code::not_found,
              fmt::format("the program almanac-slurm-gateway is not in {}", own.string()), {},
              "it comes with an almanac that was built with libslurm-dev; ALMANAC_SLURM_GATEWAY "
              "can name it");
}

GatewayProgram::GatewayProgram(std::string path) : path_(std::move(path)), lines_(kLongestAnswer) {}

GatewayProgram::~GatewayProgram() {
  socket_.close();
  words_.close();
  if (process_ > 0 && !ended_) bury();
}

std::optional<process::Ending> GatewayProgram::bury() {
  const Descriptor held = process::hold(process_);
  pollfd awaited{held.get(), POLLIN, 0};
  ::poll(&awaited, 1, kLeaveMs);
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  return process::ending_from(status);
}

Result<void> GatewayProgram::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return cannot("create a socket", errno);
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor its(ends[1]);
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  auto pipe = process::Pipe::create();
  if (!pipe) return tl::unexpected(pipe.error());
  // The gateway must never wait for us to read its errors.
  ::fcntl(pipe->write.get(), F_SETFL, O_NONBLOCK);
  const int number = spawn(path_, its, pipe->write, process_);
  if (number != 0) process_ = -1;
  if (number == ENOENT || number == EACCES) {
    return fail(Code::not_found, fmt::format("cannot start {}: {}", path_, std::strerror(number)));
  }
  if (number != 0) return cannot("start " + path_, number);
  words_ = std::move(pipe->read);
  return {};
}

void GatewayProgram::listen() {
  if (!process::read_available(words_, last_words_)) words_.close();
  if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
}

/// ": " and the last line that it wrote as an error.
std::string GatewayProgram::last_words() {
  if (words_) listen();
  while (!last_words_.empty() && last_words_.back() == '\n') last_words_.pop_back();
  const std::string last = last_words_.substr(last_words_.rfind('\n') + 1);
  return last.empty() ? "" : ": " + last;
}

tl::unexpected<Error> GatewayProgram::gone() {
  if (!ended_) {
    ended_ = true;
    socket_.close();
    const auto ending = bury();
    epitaph_ = fmt::format("almanac-slurm-gateway has ended{}{}{}", ending ? ": " : "",
                           ending ? process::to_string(*ending) : "", last_words());
  }
  if (is_without_slurm(epitaph_)) return without_slurm();
  return fail(Code::unavailable, epitaph_);
}

Result<void> GatewayProgram::exchange(std::string_view& unsent, Clock::time_point deadline) {
  if (ended_) return gone();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  if (left.count() <= 0) {
    return fail(Code::unavailable, "almanac-slurm-gateway did not answer in time" + last_words());
  }
  const auto events = static_cast<short>(unsent.empty() ? POLLIN : POLLIN | POLLOUT);
  std::array<pollfd, 2> awaited{{{socket_.get(), events, 0}, {words_.get(), POLLIN, 0}}};
  const nfds_t count = words_ ? 2 : 1;
  if (::poll(awaited.data(), count, static_cast<int>(left.count())) < 0 && errno != EINTR) {
    return cannot("wait for almanac-slurm-gateway", errno);
  }
  if (count == 2 && awaited[1].revents != 0) {
    listen();
  }
  if ((awaited[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
    std::array<char, 65536> part{};
    const ssize_t size = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (size > 0) {
      lines_.add({part.data(), static_cast<std::size_t>(size)});
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
      return gone();
    }
  }
  if ((awaited[0].revents & POLLOUT) != 0) {
    const ssize_t size = ::send(socket_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (size > 0) unsent.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<void> GatewayProgram::send(std::string_view line, Clock::time_point deadline) {
  while (!line.empty()) {
    if (auto done = exchange(line, deadline); !done) return done;
  }
  return {};
}

Result<std::string_view> GatewayProgram::receive(Clock::time_point deadline) {
  for (;;) {
    if (const auto line = lines_.next()) {
      if (!line->too_long) return line->text;
      return fail(Code::corrupt, fmt::format("an answer of more than {} bytes", kLongestAnswer));
    }
    std::string_view nothing;
    if (auto done = exchange(nothing, deadline); !done) return tl::unexpected(done.error());
  }
}

void GatewayProgram::kill() {
  if (process_ <= 0 || ended_) return;
  ::kill(process_, SIGKILL);
  static_cast<void>(gone());
}

}  // namespace almanac::slurm
