// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs on a terminal, as a user has them: at a real pseudo terminal, with real programs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/service_commands.h"

namespace almanac {
namespace {

using testing::HasSubstr;

std::string program() {
  const char* const named = std::getenv("ALMANAC_PROGRAM");
  return named == nullptr ? "almanac" : named;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> made;
  for (std::string& each : words) made.push_back(each.data());
  made.push_back(nullptr);
  return made;
}

/// A program at a pseudo terminal of ours.
class Typist {
 public:
  explicit Typist(std::vector<std::string> words) {
    words.insert(words.begin(), program());
    winsize size{};
    size.ws_row = 33;
    size.ws_col = 77;
    process_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (process_ == 0) {
      ::setenv("PS1", "ready$ ", 1);
      const auto argv = pointers(words);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
  }
  Typist(const Typist&) = delete;
  Typist& operator=(const Typist&) = delete;
  ~Typist() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(master_);
  }

  void type(const std::string& keys) const {
    for (std::size_t done = 0; done < keys.size();) {
      const ssize_t wrote = ::write(master_, keys.data() + done, keys.size() - done);
      if (wrote <= 0) return;
      done += static_cast<std::size_t>(wrote);
    }
  }
  /// Reads until `text` has come, and drops all to its end; false after a minute.
  bool sees(const std::string& text) {
    const auto begun = std::chrono::steady_clock::now();
    for (;;) {
      if (const std::size_t at = seen_.find(text); at != std::string::npos) {
        seen_.erase(0, at + text.size());
        return true;
      }
      pollfd news{master_, POLLIN, 0};
      constexpr int kLook_ms = 100;
      ::poll(&news, 1, kLook_ms);
      std::array<char, 4096> block;
      const ssize_t got =
          (news.revents & POLLIN) != 0 ? ::read(master_, block.data(), block.size()) : 0;
      if (got > 0) seen_.append(block.data(), static_cast<std::size_t>(got));
      const bool is_over = got < 0 || (news.revents & (POLLHUP | POLLIN)) == POLLHUP;
      if (is_over || std::chrono::steady_clock::now() - begun > std::chrono::minutes(1))
        return false;
    }
  }
  const std::string& seen() const { return seen_; }
  void resize(unsigned short rows, unsigned short columns) const {
    winsize size{};
    size.ws_row = rows;
    size.ws_col = columns;
    ::ioctl(master_, TIOCSWINSZ, &size);
  }
  void signal(int number) const { ::kill(process_, number); }
  int ends() {
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  int master_ = -1;
  std::string seen_;
};

class TerminalTest : public ServiceCommands {
 protected:
  void begin() {
    service_.emplace(std::vector<std::string>{"serve", "--state", state_, "--gpus", "2"},
                     state_ + ".log");
    wait_for_service();
  }
  void end(int signal) {
    if (service_) service_->end(signal);
    service_.reset();
  }
  void TearDown() override {
    run({"cancel", "--all", "--now"});
    soon([&] { return run({"queue"}).out.find('\n') == run({"queue"}).out.size() - 1; });
    end(SIGTERM);
  }
  /// `--` makes what follows one shell: without history, and with a prompt that we know.
  std::vector<std::string> shell(std::vector<std::string> options = {}) const {
    std::vector<std::string> words{"submit", "--pty", "--directory", folder_ / ""};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "bash", "--norc", "--noprofile", "-i"});
    return by_socket(words);
  }

  std::optional<RunningProgram> service_;
};

TEST_F(TerminalTest, GivesAShellOnTheGpusThatOutlivesTheService) {
  begin();
  Typist user(shell({"--gpus", "1"}));
  // At the prompt only: what is typed before is echoed twice, and dropped by Ctrl-C and Ctrl-Z.
  const auto enter = [&](const std::string& command) {
    if (!user.sees("ready$ ")) return false;
    user.type(command + "\n");
    return user.sees(command + "\r\n");
  };
  ASSERT_TRUE(enter("echo gpus=$CUDA_VISIBLE_DEVICES on $(tty)")) << user.seen();
  EXPECT_TRUE(user.sees("gpus=0 on /dev/pts/")) << user.seen();
  ASSERT_TRUE(enter("stty size")) << user.seen();
  EXPECT_TRUE(user.sees("33 77\r\n")) << user.seen();
  user.resize(40, 100);
  ASSERT_TRUE(enter("stty size")) << user.seen();
  EXPECT_TRUE(user.sees("40 100\r\n")) << user.seen();
  // Ctrl-C and Ctrl-Z are those of what runs in the foreground.
  ASSERT_TRUE(enter("sh -c 'echo beg\"\"un; exec sleep 600'")) << user.seen();
  ASSERT_TRUE(user.sees("begun\r\n")) << user.seen();
  user.type("\x03");
  ASSERT_TRUE(enter("sh -c 'echo beg\"\"un again; exec cat'")) << user.seen();
  ASSERT_TRUE(user.sees("begun again\r\n")) << user.seen();
  user.type("\x1a");
  ASSERT_TRUE(user.sees("Stopped")) << user.seen();
  ASSERT_TRUE(enter("kill %1; wait; echo cle''ared")) << user.seen();
  ASSERT_TRUE(user.sees("cleared\r\n")) << user.seen();

  end(SIGKILL);
  user.type("echo alone\n");
  ASSERT_TRUE(user.sees("alone\r\n"));
  EXPECT_TRUE(user.sees("alone\r\n")) << "the job does not need its service";
  begin();
  user.type("\x1d\x1d\x1d");
  ASSERT_TRUE(user.sees("Detached from job 1, which is still running")) << user.seen();
  EXPECT_EQ(user.ends(), 0);
  EXPECT_THAT(run({"show", "1"}).out, HasSubstr("State        RUNNING"));

  Typist again(by_socket({"attach", "1"}));
  ASSERT_TRUE(again.sees("alone\r\n"))
      << "what was written before is shown again: " << again.seen();
  again.type("echo ba''ck; stty size\n");
  EXPECT_TRUE(again.sees("back\r\n")) << again.seen();
  EXPECT_TRUE(again.sees("33 77\r\n")) << again.seen();
  Typist other(by_socket({"attach", "1"}));
  ASSERT_TRUE(again.sees("Another terminal attached to job 1")) << again.seen();
  EXPECT_EQ(again.ends(), 0);
  other.type("exit 7\n");
  EXPECT_TRUE(other.sees("job 1 has ended: FAILED, exit status 7")) << other.seen();
  EXPECT_EQ(other.ends(), 7);
}

TEST_F(TerminalTest, SaysThatItWaitsAndIsCancelledByCtrlC) {
  begin();
  ASSERT_EQ(
      run({"submit", "--gpus", "2", "--directory", folder_ / "", "--", "sleep", "600"}).status, 0);
  ASSERT_TRUE(soon([&] { return run({"show", "1"}).out.find("RUNNING") != std::string::npos; }));
  Typist user(shell({"--gpus", "1"}));
  ASSERT_TRUE(user.sees("job 2 is pending: ")) << user.seen();
  EXPECT_TRUE(user.sees("(Ctrl-C cancels it)")) << user.seen();
  user.type("\x03");
  EXPECT_TRUE(user.sees("job 2 was cancelled")) << user.seen();
  EXPECT_EQ(user.ends(), 130);
  EXPECT_THAT(run({"show", "2"}).out, HasSubstr("State        CANCELLED"));
}

TEST_F(TerminalTest, RunsOnWhereItsUserGoesAwayAndEndsWhenItIsCancelled) {
  begin();
  auto user = std::make_unique<Typist>(shell());
  ASSERT_TRUE(user->sees("ready$ ")) << user->seen();
  user.reset();  // as one whose connection breaks
  Typist again(by_socket({"attach", "1"}));
  again.type("echo st''ill\n");
  ASSERT_TRUE(again.sees("still\r\n")) << again.seen();
  EXPECT_EQ(run({"cancel", "1"}).status, 0);
  EXPECT_TRUE(again.sees("job 1 has ended: CANCELLED")) << again.seen();
  EXPECT_NE(again.ends(), 0);
  EXPECT_THAT(run({"attach", "1"}).err, HasSubstr("job 1 has ended: CANCELLED"));
}

TEST_F(TerminalTest, RunsWhatIsPipedIn) {
  begin();
  const std::string keys = folder_.write("keys", "echo si''x times 7 is $((6 * 7))\nexit 5\n");
  const ProgramRun done = run_program(shell(), keys);
  EXPECT_EQ(done.status, 5) << done.err;
  EXPECT_THAT(done.out, HasSubstr("six times 7 is 42\r\n"));
  const ProgramRun no_terminal =
      run({"submit", "--parsable", "--directory", folder_ / "", "--", "sleep", "600"});
  ASSERT_EQ(no_terminal.out, "2\n");
  EXPECT_THAT(run({"attach", "2"}).err, HasSubstr("job 2 has no terminal"));
  EXPECT_EQ(run({"submit", "--pty", "--array", "0-1", "--", "true"}).status, 2);
}

/// What connects as another user, to the socket itself; the kernel's word on it.
TEST_F(TerminalTest, LetsNobodyAttachButItsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  begin();
  Typist user(shell());
  ASSERT_TRUE(user.sees("ready$ ")) << user.seen();
  const std::string path = state_ + "/runs/1.1/terminal";
  struct stat file {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
  EXPECT_EQ(file.st_uid, 0U);
  const auto tries = [&](uid_t uid, bool opens) {
    const pid_t process = ::fork();
    if (process == 0) {
      // Where the mode lets everybody in, the kernel's word on who connects still does not.
      if (opens) ::chmod(path.c_str(), 0666);
      if (::setresuid(uid, uid, uid) != 0) ::_exit(100);
      const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
      if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        ::_exit(errno == EACCES ? 1 : 101);
      }
      char word = 0;
      ::_exit(::recv(socket, &word, 1, 0) == 1 && word == 'r' ? 2 : 102);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    return WEXITSTATUS(status);
  };
  constexpr uid_t kOther = 65'534;
  // Its folders let through whoever the tests' own let through.
  for (auto at = std::filesystem::path(path).parent_path(); at.has_relative_path();
       at = at.parent_path()) {
    if (at == "/tmp") break;
    ::chmod(at.c_str(), 0711);
  }
  EXPECT_EQ(tries(kOther, false), 1);
  EXPECT_EQ(tries(kOther, true), 2);
  user.type("echo untou''ched\n");
  EXPECT_TRUE(user.sees("untouched\r\n")) << user.seen();
}

}  // namespace
}  // namespace almanac
