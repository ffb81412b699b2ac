// SPDX-License-Identifier: Apache-2.0
#include "cli/attach.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "cli/job_end.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "process/descriptor.h"
#include "serve/view_json.h"
#include "shepherd/terminal_words.h"

namespace almanac::cli {
namespace {

using process::Descriptor;
using shepherd::TerminalWord;

/// Blocks these and gives them as a descriptor, until it goes.
class Signals {
 public:
  Signals(std::initializer_list<int> which) {
    ::sigemptyset(&these_);
    for (const int each : which) ::sigaddset(&these_, each);
    ::sigprocmask(SIG_BLOCK, &these_, &before_);
    heard_ = Descriptor(::signalfd(-1, &these_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  int get() const { return heard_.get(); }
  /// The next that has come; 0 = none.
  int next() const {
    signalfd_siginfo heard{};
    return ::read(heard_.get(), &heard, sizeof heard) == sizeof heard
               ? static_cast<int>(heard.ssi_signo)
               : 0;
  }

 private:
  sigset_t these_{};
  sigset_t before_{};
  Descriptor heard_;
};

/// Our terminal hands all keys on as they are, until this goes; no terminal stays as it is.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    is_raw_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }

 private:
  termios before_{};
  bool is_raw_ = false;
};

/// Ctrl-] three times within a second, as machinectl(1) has it; the first two go to the job as
/// well.
class Detaching {
 public:
  bool is_told(std::string_view keys) {
    using Clock = std::chrono::steady_clock;
    constexpr char kKey = 0x1d;
    constexpr int kTimes = 3;
    for (const char key : keys) {
      if (key != kKey) {
        times_ = 0;
        continue;
      }
      const auto now = Clock::now();
      if (times_ == 0 || now - first_ > std::chrono::seconds(1)) {
        times_ = 0;
        first_ = now;
      }
      if (++times_ == kTimes) return true;
    }
    return false;
  }

 private:
  int times_ = 0;
  std::chrono::steady_clock::time_point first_{};
};

Result<Descriptor> connect_to(const std::string& path) {
  const std::filesystem::path socket(path);
  const Descriptor folder(::open(socket.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  // By the open folder: an address has room for short paths only.
  const std::string near =
      fmt::format("/proc/self/fd/{}/{}", folder.get(), socket.filename().string());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, near.data(), std::min(near.size(), sizeof address.sun_path - 1));
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (folder && made &&
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return made;
  }
  const int number = errno;
  if (number == EACCES || number == EPERM) {
    return fail(Code::conflict, "only the job's user can attach to its terminal");
  }
  return fail(Code::not_found,
              fmt::format("cannot connect to the terminal of the job: nothing listens at {}: {}",
                          path, std::strerror(number)),
              {}, "run attach on the machine on which the job runs");
}

bool send_packet(int socket, TerminalWord word, std::string_view content) {
  std::string packet(1, static_cast<char>(word));
  packet.append(content);
  return ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0;
}

void send_size(int socket) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 &&
      ::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
    return;
  const shepherd::TerminalSize said{.rows = size.ws_row, .columns = size.ws_col};
  std::string content(sizeof said, '\0');
  std::memcpy(content.data(), &said, sizeof said);
  send_packet(socket, TerminalWord::size, content);
}

void show_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

/// What the job's side says; nothing = we are still attached.
std::optional<Result<Left>> hear(int socket) {
  std::array<char, shepherd::kMostPacket> packet;
  const ssize_t got = ::recv(socket, packet.data(), packet.size(), 0);
  if (got < 0 && errno == EINTR) return std::nullopt;
  if (got <= 0) return Left::lost;
  switch (static_cast<TerminalWord>(packet[0])) {
    case TerminalWord::data:
      show_all({packet.data() + 1, static_cast<std::size_t>(got) - 1});
      return std::nullopt;
    case TerminalWord::taken:
      return Left::taken;
    case TerminalWord::ended:
      return Left::ended;
    case TerminalWord::refused:
      return fail(Code::conflict, "only the job's user can attach to its terminal");
    case TerminalWord::size:
      break;
  }
  return std::nullopt;
}

}  // namespace

Result<Left> attach(const std::string& socket) {
  const auto there = connect_to(socket);
  if (!there) return tl::unexpected(there.error());
  const Signals signals{SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  const RawTerminal raw;
  Detaching detaching;
  send_size(there->get());
  bool reads = true;
  for (;;) {
    std::array<pollfd, 3> news{{{there->get(), POLLIN, 0},
                                {signals.get(), POLLIN, 0},
                                {reads ? STDIN_FILENO : -1, POLLIN, 0}}};
    if (::poll(news.data(), news.size(), -1) < 0 && errno != EINTR) return Left::lost;
    for (int signal; (signal = signals.next()) != 0;) {
      if (signal != SIGWINCH) return Left::detached;
      send_size(there->get());
    }
    if (news[0].revents != 0) {
      if (auto left = hear(there->get())) return *std::move(left);
    }
    if (news[2].revents == 0) continue;
    std::array<char, 4096> keys;
    const ssize_t got = ::read(STDIN_FILENO, keys.data(), keys.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Left::detached;  // our terminal has gone
    const std::string_view typed(keys.data(), static_cast<std::size_t>(got));
    reads = got > 0;
    // The last of the keys stays here: it would be the first half of a command in a line editor.
    if (detaching.is_told(typed)) return Left::detached;
    // What is no terminal ends: so does what is typed.
    send_packet(there->get(), TerminalWord::data, got > 0 ? typed : "\x04");
  }
}

namespace {

/// Whether the user wants no more of a job that waits.
bool gives_up(const Signals& signals, std::chrono::milliseconds pause) {
  pollfd news{signals.get(), POLLIN, 0};
  return ::poll(&news, 1, static_cast<int>(pause.count())) > 0 && signals.next() != 0;
}

/// Waits until a pending job runs or has ended; nothing if the user gave up.
Result<std::optional<serve::ListedJob>> await_start(serve::Client& client,
                                                    store::JobNumber number) {
  constexpr std::chrono::milliseconds kPause{100};
  // A job whose GPUs are free begins at once: that is not told.
  constexpr int kQuiet = 5;
  const Signals signals{SIGINT, SIGTERM, SIGHUP};
  std::string said;
  for (int looks = 0;; ++looks) {
    const auto answer = client.get(fmt::format("/v1/jobs/{}", number));
    if (!answer && answer.error().code != Code::unavailable) return tl::unexpected(answer.error());
    std::string why = "the service does not answer";
    if (answer) {
      auto listed = serve::read_job(answer->body);
      if (!listed) return tl::unexpected(listed.error());
      const service::JobView& view = listed->view;
      if (view.job.state != trace::JobState::pending) return std::optional(*std::move(listed));
      why = view.why.empty() ? "it starts in a moment" : view.why;
    }
    if (why != said && looks >= kQuiet) {
      print_message(fmt::format("job {} is pending: {}{}", number, why,
                                said.empty() ? " (Ctrl-C cancels it)" : ""));
      said = why;
    }
    if (gives_up(signals, kPause)) return std::optional<serve::ListedJob>();
  }
}

}  // namespace

Result<int> follow_terminal(serve::Client& client, store::JobNumber number, bool cancels) {
  constexpr std::chrono::milliseconds kPause{50};
  constexpr int kTries = 200;  // of a job that has just begun, or whose keeper was lost
  for (int tries = 0; tries < kTries; ++tries) {
    const auto found = await_start(client, number);
    if (!found) return tl::unexpected(found.error());
    if (!*found) {
      if (!cancels) return kInterrupted;
      const auto done = client.change("cancel", {.jobs = {fmt::format("{}", number)}, .now = true});
      if (!done) return tl::unexpected(done.error());
      print_message(fmt::format("job {} was cancelled", number));
      return kInterrupted;
    }
    const serve::ListedJob& job = **found;
    if (job.view.job.state != trace::JobState::running) {
      print_message(end_in_words(job));
      return exit_status_of(job.view.job);
    }
    if (!job.view.job.asked->pty) {
      return fail(Code::usage, fmt::format("job {} has no terminal", job.id), {},
                  "submit it with --pty to get one; almanac logs shows its output");
    }
    const Result<Left> left =
        job.view.terminal.empty()
            ? Result<Left>(fail(Code::not_found, "its terminal is not ready yet; try again"))
            : attach(job.view.terminal);
    if (!left && left.error().code != Code::not_found) return tl::unexpected(left.error());
    if (left == Left::detached || left == Left::taken) {
      print_message(
          fmt::format("\r\n{} job {}, which is still running (almanac attach {} reattaches, "
                      "almanac cancel {} stops it)",
                      left == Left::taken ? "Another terminal attached to" : "Detached from",
                      job.id, job.id, job.id));
      return kDone;
    }
    if (left) tries = 0;  // its service says soon what has become of it
    if (!left && tries + 1 == kTries) return tl::unexpected(left.error());
    std::this_thread::sleep_for(kPause);
  }
  return fail(Code::unavailable, fmt::format("cannot attach to job {}", number));
}

}  // namespace almanac::cli
