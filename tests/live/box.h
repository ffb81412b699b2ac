// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service in a thread, on a folder of its own, with real processes.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "machine/local_service.h"
#include "process/tree.h"

namespace almanac::machine {

inline constexpr auto kPatience = std::chrono::seconds(60);

inline Machine made_up(int gpus) {
  Machine made;
  made.cluster = cluster::uniform(1, gpus);
  made.gpu_names.emplace_back();
  for (int gpu = 0; gpu < gpus; ++gpu) made.gpu_names.back().push_back(std::to_string(gpu));
  return made;
}

class Box : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "almanac-live-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::create_directory(folder_ / "work");
  }
  void TearDown() override {
    end();
    while (kill_commands()) {
    }
    std::error_code written;
    EXPECT_TRUE(eventually([&] {
      std::filesystem::remove_all(folder_, written);
      return !written;
    })) << written.message();
  }
  /// Jobs outlive their service, but not the test; their shepherds end with them, and may write
  /// their last words while the folder is removed. False once there is none.
  bool kill_commands() const {
    bool found = false;
    for (const pid_t process : process::numbers_in("/proc")) {
      std::error_code gone;
      const auto where =
          std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/cwd", gone);
      if (gone || where != folder_ / "work") continue;
      found = ::kill(process, SIGKILL) == 0 || found;
    }
    return found;
  }

  void begin(const std::string& policy = "fifo", int gpus = 4, int futures = 0) {
    begin({.state = state(), .machine = made_up(gpus), .policy = policy, .futures = futures});
  }
  void begin(Config config) {
    auto made = open_local_service(std::move(config));
    ASSERT_TRUE(made) << to_string(made.error());
    service_ = std::move(*made);
    stop_ = false;
    thread_ = std::thread([this] { service_->run(stop_); });
  }
  std::string state() const { return (folder_ / "state").string(); }
  void end() {
    if (!service_) return;
    stop_ = true;
    service_->wake();
    thread_.join();
    service_.reset();
  }

  store::Submission shell(const std::string& text, int gpus = 1) const {
    store::Submission asked{.name = "test", .user = "me"};
    asked.uid = ::geteuid();
    asked.gid = ::getegid();
    asked.gpus = gpus;
    asked.argv = {"sh", "-c", text};
    asked.directory = (folder_ / "work").string();
    asked.environment = {"PATH=/usr/bin:/bin"};
    asked.grace = 2s;
    return asked;
  }
  store::JobNumber submit(const store::Submission& asked) {
    const auto numbers = service_->submit(asked);
    EXPECT_TRUE(numbers) << to_string(numbers.error());
    return numbers ? numbers->front() : store::JobNumber{};
  }
  store::Job look(store::JobNumber number) { return service_->job(number).value().job; }
  bool eventually(const std::function<bool()>& holds) {
    const auto begun = std::chrono::steady_clock::now();
    while (!holds()) {
      if (std::chrono::steady_clock::now() - begun > kPatience) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  bool comes_to(store::JobNumber number, trace::JobState state) {
    return eventually([&] { return look(number).state == state; });
  }
  std::string text(const std::string& name) {
    std::ifstream file(folder_ / "work" / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
  std::unique_ptr<service::Service> service_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  const service::Caller me_{.uid = ::geteuid(), .may_all = true};
};

}  // namespace almanac::machine
