// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of a test: in a folder of its own, with nothing left of them when the test is over.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>

#include "process/tree.h"
#include "shepherd/folder.h"
#include "shepherd/run.h"
#include "support/temporary_folder.h"

namespace almanac::shepherd {

/// Waits for something that takes a moment; two minutes are for machines under load.
inline bool comes_true(const std::function<bool()>& fact) {
  for (int tries = 0; tries < 24000; ++tries) {
    if (fact()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// "" when it is not there, or gone while it is read.
inline std::string content(const std::string& path) { return read_file(path).value_or(""); }

class Runs {
 public:
  ~Runs() {
    EXPECT_TRUE(comes_true([&] { return alive().empty(); })) << "something runs on";
    for (const pid_t process : alive()) ::kill(process, SIGKILL);
  }

  /// A script of the shell, in the folder of the test, which it knows as $HERE.
  Spec shell(const std::string& script) const {
    Spec spec;
    spec.id = "1.1";
    spec.argv = {"sh", "-c", script};
    spec.environment = {"PATH=/usr/bin:/bin", "HERE=" + path(".")};
    spec.directory = path(".");
    spec.out = "out";
    spec.grace = 10min;
    return spec;
  }
  Run start(const Spec& spec) const {
    auto run = Run::start(path(spec.id), spec);
    if (!run) throw std::runtime_error(to_string(run.error()));
    return std::move(*run);
  }
  Exit result(const Spec& spec) const {
    Run run = start(spec);
    return exit_of(run);
  }

  /// Waits as a service does.
  static Outcome end_of(Run& run) {
    pollfd wait{run.news(), POLLIN, 0};
    EXPECT_EQ(::poll(&wait, 1, 120'000), 1);
    Outcome how = run.exited();
    for (; how.kind == Outcome::Kind::lives; how = run.exited()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return how;
  }
  static Exit exit_of(Run& run) {
    const Outcome outcome = end_of(run);
    if (!outcome.exit) throw std::runtime_error("news, but no end: " + outcome.why);
    return *outcome.exit;
  }

  std::string path(const std::string& name) const {
    return (std::filesystem::canonical(folder_ / ".") / name).lexically_normal().string();
  }
  std::string text(const std::string& name = "out") const { return content(path(name)); }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }
  bool comes(const std::string& name) const {
    return comes_true([&] { return has(name); });
  }

  /// The parent of a command.
  static pid_t shepherd_of(pid_t command) {
    std::istringstream status(content("/proc/" + std::to_string(command) + "/status"));
    for (std::string word; status >> word;) {
      pid_t parent = 0;
      if (word == "PPid:" && status >> parent) return parent;
    }
    throw std::runtime_error("no such command");
  }
  /// The processes that have the folder of this test in their environment or their arguments.
  std::set<pid_t> alive() const {
    std::set<pid_t> found;
    for (const pid_t process : process::numbers_in("/proc")) {
      const std::string about = "/proc/" + std::to_string(process);
      if ((content(about + "/environ") + content(about + "/cmdline")).find(path("")) !=
          std::string::npos) {
        found.insert(process);
      }
    }
    return found;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace almanac::shepherd
