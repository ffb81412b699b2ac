// SPDX-License-Identifier: Apache-2.0
#include "service/notify.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace almanac::service {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

/// In the place of the manager.
class Notify : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_ / "manager";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(manager_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  void TearDown() override {
    for (const char* const name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
      ::unsetenv(name);
    }
  }
  /// What was told next; "" = nothing.
  std::string told() const {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(manager_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got <= 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(got));
  }

  TemporaryFolder folder_;
  process::Descriptor manager_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(Notify, TellsTheManagerInItsWords) {
  tell_ready("12 jobs run");
  EXPECT_EQ(told(), "READY=1\nSTATUS=12 jobs run");
  tell_reloading();
  EXPECT_THAT(told(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  tell_stopping();
  EXPECT_EQ(told(), "STOPPING=1");
}

TEST_F(Notify, HasTheManagerWaitForAStartThatGetsOn) {
  const Beginning beginning(10ms);
  std::string heard;
  const Clock& clock = machine_clock();
  for (const auto begun = clock.monotonic(); heard.empty() && clock.seconds_since(begun) < 10;) {
    heard = told();  // busy meanwhile
  }
  EXPECT_EQ(heard, "EXTEND_TIMEOUT_USEC=60000000");
}

TEST_F(Notify, DoesNotHaveItWaitForAStartThatHangs) {
  const Beginning beginning(10ms);
  // Processor time that the test itself used may count once more.
  bool is_quiet = false;
  for (int attempt = 0; attempt < 50 && !is_quiet; ++attempt) {
    while (!told().empty()) {
    }
    std::this_thread::sleep_for(100ms);
    is_quiet = told().empty();
  }
  EXPECT_TRUE(is_quiet);
}

TEST_F(Notify, TellsThatItLivesAsOftenAsTheWatchdogWants) {
  ::setenv("WATCHDOG_USEC", "200000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  FakeClock clock;
  Watchdog watchdog(clock);
  EXPECT_EQ(watchdog.patience(), 50ms);
  watchdog.alive();
  EXPECT_EQ(told(), "WATCHDOG=1");
  clock.advance(49ms);
  watchdog.alive();
  EXPECT_EQ(told(), "");
  clock.advance(1ms);
  watchdog.alive();
  EXPECT_EQ(told(), "WATCHDOG=1");
}

TEST_F(Notify, TellsNoWatchdogThatIsNotThereOrIsForAnother) {
  Watchdog none;
  none.alive();
  EXPECT_EQ(none.patience(), Watchdog::kAlways);
  ::setenv("WATCHDOG_USEC", "200000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  Watchdog other;
  other.alive();
  EXPECT_EQ(other.patience(), Watchdog::kAlways);
  EXPECT_EQ(told(), "");
}

TEST(NotifyWithoutManager, DoesNothing) {
  ::unsetenv("NOTIFY_SOCKET");
  tell_ready("");
  tell_stopping();
}

}  // namespace
}  // namespace almanac::service
