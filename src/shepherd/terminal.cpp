// SPDX-License-Identifier: Apache-2.0
#include "shepherd/terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shepherd/terminal_words.h"

namespace almanac::shepherd {

using process::Descriptor;

namespace {

/// What one who attaches is shown of before: some screens.
constexpr std::size_t kLast = 64 << 10;
/// What waits for an attached program that does not read; then the command waits.
constexpr std::size_t kMostWaiting = 256 << 10;
/// Most bytes of keys that the terminal does not take yet.
constexpr std::size_t kMostKeys = 64 << 10;

/// The socket by a path that fits into an address, however long the folder's is.
Result<sockaddr_un> address_in(const Descriptor& folder) {
  sockaddr_un made{};
  made.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}{}", folder.get(), kTerminalFile);
  if (path.size() >= sizeof made.sun_path) return fail(Code::unavailable, "a path is too long");
  std::memcpy(made.sun_path, path.data(), path.size());
  return made;
}

tl::unexpected<Error> cannot(const char* what, int number) {
  return fail(Code::unavailable, fmt::format("cannot {}: {}", what, std::strerror(number)));
}

}  // namespace

Descriptor enter_terminal() {
  Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) return {};
  std::array<char, 64> name{};
  if (::ptsname_r(master.get(), name.data(), name.size()) != 0) return {};
  const Descriptor own(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!own || ::ioctl(own.get(), TIOCSCTTY, 0) != 0) return {};
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 80;
  ::ioctl(own.get(), TIOCSWINSZ, &size);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::dup2(own.get(), each) < 0) return {};
  }
  return master;
}

Result<Terminal> Terminal::open(const std::string& folder, Descriptor master, uid_t user,
                                gid_t group) {
  Terminal made;
  made.master_ = std::move(master);
  made.user_ = user;
  const Descriptor in(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!in) return cannot("open its folder", errno);
  const auto address = address_in(in);
  if (!address) return tl::unexpected(address.error());
  made.listener_ = Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.listener_) return cannot("create a socket", errno);
  const char* const path = address->sun_path;
  ::unlink(path);
  // The umask prevents other users from connecting until the socket belongs to the user.
  if (::bind(made.listener_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) !=
          0 ||
      ::chmod(path, 0600) != 0 || (::geteuid() != user && ::chown(path, user, group) != 0) ||
      ::listen(made.listener_.get(), 8) != 0) {
    return cannot("listen for attaching users", errno);
  }
  ::fcntl(made.master_.get(), F_SETFL, O_NONBLOCK);
  return made;
}

void Terminal::add_to(std::vector<pollfd>& news) const {
  news.push_back({listener_.get(), POLLIN, 0});
  // poll() always reports POLLHUP, so a terminal that no process has open is not polled at all.
  const short reads = waiting() < kMostWaiting ? POLLIN : 0;
  const short writes = to_write_.empty() ? 0 : POLLOUT;
  if (!is_hung_ && (reads | writes) != 0) {
    news.push_back({master_.get(), static_cast<short>(reads | writes), 0});
  }
  if (!attached_) return;
  const short hears = to_write_.size() < kMostKeys ? POLLIN : 0;
  news.push_back({attached_.get(), static_cast<short>(hears | (waiting() > 0 ? POLLOUT : 0)), 0});
}

void Terminal::pump(Log& log) {
  let_in();
  hear();
  write_master();
  if (waiting() < kMostWaiting) read_master(log, kMostWaiting - waiting());
  show();
}

void Terminal::let_in() {
  for (;;) {
    Descriptor caller(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!caller) return;
    ucred who{};
    socklen_t size = sizeof who;
    const bool is_known = ::getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    if (!is_known || who.uid != user_) {
      const char word = static_cast<char>(TerminalWord::refused);
      ::send(caller.get(), &word, 1, MSG_NOSIGNAL);
      continue;
    }
    if (attached_) leave(static_cast<char>(TerminalWord::taken));
    attached_ = std::move(caller);
    to_show_ = last_;
    shown_ = 0;
  }
}

void Terminal::hear() {
  std::array<char, kMostPacket> packet;
  while (attached_ && to_write_.size() < kMostKeys) {
    const ssize_t got = ::recv(attached_.get(), packet.data(), packet.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return leave(0);
    hear_packet({packet.data(), static_cast<std::size_t>(got)});
  }
}

void Terminal::hear_packet(std::string_view packet) {
  const auto word = static_cast<TerminalWord>(packet.front());
  packet.remove_prefix(1);
  if (word == TerminalWord::data) to_write_.append(packet);
  if (word != TerminalWord::size || packet.size() != sizeof(TerminalSize)) return;
  TerminalSize said;
  std::memcpy(&said, packet.data(), sizeof said);
  winsize size{};
  size.ws_row = said.rows;
  size.ws_col = said.columns;
  // The kernel sends SIGWINCH to who runs in the foreground.
  ::ioctl(master_.get(), TIOCSWINSZ, &size);
}

void Terminal::write_master() {
  while (!to_write_.empty()) {
    const ssize_t wrote = ::write(master_.get(), to_write_.data(), to_write_.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    to_write_.erase(0, static_cast<std::size_t>(wrote));
  }
}

void Terminal::read_master(Log& log, std::size_t room) {
  std::array<char, kMostPacket> block;
  while (room > 0) {
    const ssize_t got = ::read(master_.get(), block.data(), std::min(room, block.size()));
    if (got < 0 && errno == EINTR) continue;
    // EIO: no process has the terminal open. One may open it again.
    is_hung_ = got < 0 && errno == EIO;
    if (got <= 0) return;
    const std::string_view text(block.data(), static_cast<std::size_t>(got));
    log.add(text);
    last_.append(text);
    if (last_.size() > kLast) last_.erase(0, last_.size() - kLast);
    if (attached_) to_show_.append(text);
    room -= text.size();
  }
}

void Terminal::show() {
  while (attached_ && waiting() > 0) {
    std::array<char, kMostPacket> packet;
    const std::size_t size = std::min(waiting(), packet.size() - 1);
    packet[0] = static_cast<char>(TerminalWord::data);
    std::memcpy(packet.data() + 1, to_show_.data() + shown_, size);
    const ssize_t sent = ::send(attached_.get(), packet.data(), size + 1, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (sent < 0) return leave(0);
    shown_ += size;
  }
  if (shown_ == to_show_.size() || shown_ > kMostWaiting) {
    to_show_.erase(0, shown_);
    shown_ = 0;
  }
}

void Terminal::leave(char word) {
  if (word != 0) ::send(attached_.get(), &word, 1, MSG_NOSIGNAL);
  attached_.close();
  to_show_.clear();
  shown_ = 0;
}

void Terminal::close(Log& log) {
  constexpr int kMoment_ms = 1000;
  constexpr int kTries = 64;
  let_in();
  read_master(log, kMostWaiting);
  for (int tries = 0; attached_ && waiting() > 0 && tries < kTries; ++tries) {
    pollfd ready{attached_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, kMoment_ms) <= 0) break;
    show();
  }
  if (attached_) leave(static_cast<char>(TerminalWord::ended));
}

}  // namespace almanac::shepherd
