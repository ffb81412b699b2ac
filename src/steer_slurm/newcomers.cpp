// SPDX-License-Identifier: Apache-2.0
#include "steer_slurm/newcomers.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace almanac::steer_slurm {

using process::Descriptor;

namespace {

constexpr int kBacklog = 64;
constexpr std::size_t kLongestQuestion = 64 << 10;
/// The plugin writes right after it has connected.
constexpr int kPatience_ms = 20;
/// A connection that could not be accepted, for want of descriptors or memory, still waits.
constexpr int kBreath_ms = 100;

/// Gives the socket to Slurm's user, so that no other process can connect and delay slurmctld. If
/// the service has no right to do so and is not Slurm's user itself, it only checks who connects.
bool let_in_only(const std::string& path, std::uint32_t slurm_uid) {
  constexpr mode_t kOwner = 0600;
  constexpr mode_t kAll = 0666;
  const bool is_known = slurm_uid != std::numeric_limits<std::uint32_t>::max();
  const bool is_given = is_known && ::chown(path.c_str(), slurm_uid, static_cast<gid_t>(-1)) == 0;
  return ::chmod(path.c_str(), is_given ? kOwner : kAll) == 0;
}

}  // namespace

Result<std::unique_ptr<Newcomers>> Newcomers::listen(const std::string& path,
                                                     std::uint32_t slurm_uid, Ask ask) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(
        Code::usage,
        fmt::format("the path of a socket has at most {} characters", sizeof address.sun_path - 1),
        {.file = path});
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      !let_in_only(path, slurm_uid) || ::listen(socket.get(), kBacklog) != 0) {
    return fail(Code::unavailable, fmt::format("cannot listen: {}", std::strerror(errno)),
                {.file = path});
  }
  std::set<std::uint32_t> may_ask{0, ::geteuid(), slurm_uid};
  return std::unique_ptr<Newcomers>(
      new Newcomers(std::move(socket), std::move(may_ask), std::move(ask)));
}

Newcomers::Newcomers(Descriptor socket, std::set<std::uint32_t> may_ask, Ask ask)
    : socket_(std::move(socket)),
      may_ask_(std::move(may_ask)),
      ask_(std::move(ask)),
      thread_([this] { work(); }) {}

Newcomers::~Newcomers() {
  bell_.ring();
  thread_.join();
}

void Newcomers::work() {
  while (true) {
    pollfd sources[] = {{bell_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    ::poll(sources, 2, -1);
    if (sources[0].revents != 0) return;
    if (sources[1].revents != 0 && !let_one_in()) ::poll(sources, 1, kBreath_ms);
  }
}

const std::string& Newcomers::user_of(std::uint32_t uid) {
  const auto [found, is_new] = users_.try_emplace(uid);
  if (is_new) {
    std::string room(1 << 14, '\0');
    passwd entry{};
    passwd* known = nullptr;
    ::getpwuid_r(uid, &entry, room.data(), room.size(), &known);
    found->second = known != nullptr ? known->pw_name : std::to_string(uid);
  }
  return found->second;
}

bool Newcomers::let_one_in() {
  const Descriptor plugin(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!plugin) return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
  answer(plugin);
  return true;
}

void Newcomers::answer(const Descriptor& plugin) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(plugin.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      !may_ask_.contains(peer.uid)) {
    return;
  }
  pollfd source{plugin.get(), POLLIN, 0};
  if (::poll(&source, 1, kPatience_ms) != 1) return;
  std::string question(kLongestQuestion, '\0');
  const ssize_t length = ::recv(plugin.get(), question.data(), question.size(), 0);
  if (length <= 0) return;
  question.resize(static_cast<std::size_t>(length));
  auto job = read_question(question);
  if (job) job->user = user_of(job->uid);
  const std::string answer = to_text(job ? ask_(*job) : Answer{});
  static_cast<void>(::send(plugin.get(), answer.data(), answer.size(), MSG_NOSIGNAL));
}

}  // namespace almanac::steer_slurm
