// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service and the commands that ask it, as programs with real processes.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run_program.h"

namespace almanac {

/// $ALMANAC_PROGRAM with `words` until it is ended; its messages are appended to the file `log`.
class RunningProgram {
 public:
  RunningProgram(std::vector<std::string> words, const std::string& log) {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    words.insert(words.begin(), program == nullptr ? "almanac" : program);
    std::vector<char*> argv;
    for (std::string& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int failed = ::posix_spawnp(&process_, argv[0], &files, nullptr, argv.data(), environ);
    if (failed != 0) {
      process_ = -1;
      ADD_FAILURE() << "cannot run " << argv[0] << ": " << std::strerror(failed);
    }
    ::posix_spawn_file_actions_destroy(&files);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram() { end(SIGTERM); }

  /// Returns its exit status; -1 if a signal ended it. Kills it after half a minute.
  int end(int signal) {
    if (process_ < 0) return -1;
    ::kill(process_, signal);
    int status = 0;
    for (int i = 0; i < 600; ++i) {
      if (::waitpid(process_, &status, WNOHANG) != 0) return ended(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "process " << process_ << " does not end by signal " << signal;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status, 0);
    return ended(status);
  }

 private:
  int ended(int status) {
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t process_ = -1;
};

/// Tests of a service on the folder `state_`, asked through its socket.
class ServiceCommands : public testing::Test {
 protected:
  std::vector<std::string> by_socket(std::vector<std::string> words) const {
    const auto mark = std::find(words.begin(), words.end(), "--");
    words.insert(mark, {"--socket", state_ + "/almanac.sock"});
    return words;
  }
  ProgramRun run(std::vector<std::string> words) const {
    return run_program(by_socket(std::move(words)));
  }
  /// Returns true as soon as `holds` does; false after a minute.
  static bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 1200; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  void wait_for_service() const {
    ASSERT_TRUE(soon([&] { return run({"queue"}).status == 0; })) << run({"queue"}).err;
  }
  /// Returns the number of the job.
  std::string submit(std::vector<std::string> words) const {
    words.insert(words.begin(), {"submit", "--parsable", "--directory", folder_ / ""});
    const ProgramRun submitted = run(words);
    EXPECT_EQ(submitted.status, 0) << submitted.err;
    return submitted.out.substr(0, submitted.out.find('\n'));
  }
  std::string state_of(const std::string& job) const {
    const ProgramRun shown = run({"show", job, "-o", "json"});
    if (shown.status != 0) return shown.err;
    return nlohmann::json::parse(shown.out).at("state");
  }
  bool ends_as(const std::string& job, const std::string& state) const {
    return soon([&] { return state_of(job) == state; });
  }

  TemporaryFolder folder_;
  std::string state_ = folder_ / "state";
};

}  // namespace almanac
