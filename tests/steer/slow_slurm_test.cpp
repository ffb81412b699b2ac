// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Slurm whose controller takes its time.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fake_link.h"
#include "process/descriptor.h"
#include "steer_slurm/slurm_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

/// Answers nothing while it is slow.
class SlowController final : public FakeLink {
 public:
  SlowController(FakeSlurm& slurm, std::atomic<bool>& is_slow)
      : FakeLink(slurm), is_slow_(is_slow) {}
  Result<manager::News> news() override {
    while (is_slow_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return FakeLink::news();
  }

 private:
  std::atomic<bool>& is_slow_;
};

/// In the place of systemd, with a watchdog.
class Manager {
 public:
  Manager() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_ / "manager";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "100000", 1);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
  }
  /// What it is told next; "" = nothing for long.
  std::string hear() const {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    return got <= 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(got));
  }

 private:
  TemporaryFolder folder_;
  process::Descriptor socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST(SlowSlurm, IsNoReasonForTheWatchdogToEndTheService) {
  const Manager manager;
  const TemporaryFolder folder;
  FakeSlurm slurm;
  slurm.site.cluster = "slow";  // that no two tests mean the same one
  slurm.add_partition("v", 2, 8);
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  std::atomic<bool> is_slow = false;
  const auto service =
      steer_slurm::SlurmService::open({.state = folder / "state", .policy = "fifo"},
                                      std::make_unique<SlowController>(slurm, is_slow));
  ASSERT_TRUE(service) << to_string(service.error());
  is_slow = true;
  std::thread decides([&] { (*service)->step(); });
  for (int beats = 0; beats < 5; ++beats) EXPECT_EQ(manager.hear(), "WATCHDOG=1");
  EXPECT_EQ((*service)->overview().running, 1) << "it answers others";
  is_slow = false;
  decides.join();
}

TEST(SlowSlurm, IsSaidToBeSilentBeforeItsAnswerFails) {
  const TemporaryFolder folder;
  FakeSlurm slurm;
  slurm.site.cluster = "silent";
  slurm.add_partition("v", 2, 8);
  std::atomic<bool> is_slow = false;
  const auto service = steer_slurm::SlurmService::open(
      {.state = folder / "state", .policy = "fifo", .silence = 50ms},
      std::make_unique<SlowController>(slurm, is_slow));
  ASSERT_TRUE(service) << to_string(service.error());
  const auto trouble = [&] { return (*service)->manager()->trouble; };
  EXPECT_EQ(trouble(), "");
  is_slow = true;
  std::thread decides([&] { (*service)->step(); });
  while (trouble().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(trouble().starts_with("the controller has not answered for ")) << trouble();
  is_slow = false;
  decides.join();
  EXPECT_EQ(trouble(), "");
}

}  // namespace
}  // namespace almanac::steer
