// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job can open no GPU of another job: real processes and control groups, a driver that is none
/// (fake_driver.cpp) with two GPUs, and device files of theirs behind which there is nothing.
#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::HasSubstr;
using trace::JobState;

class ClosedGpus : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    ::unsetenv("FAKE_MACHINE");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    auto machine = find_machine("");
    ASSERT_TRUE(machine) << to_string(machine.error());
    if (machine->device_minors.empty()) GTEST_SKIP() << "held by: " << machine->limits_by;
    EXPECT_THAT(machine->limits_by, HasSubstr("GPUs: cgroup v2"));
    for (const unsigned gpu : {0U, 1U}) {
      constexpr unsigned kDriver = 195;
      const std::string file = (folder_ / "work" / ("gpu" + std::to_string(gpu))).string();
      const bool is_made = ::mknod(file.c_str(), S_IFCHR | 0666, ::makedev(kDriver, gpu)) == 0;
      // Where there is no driver of it.
      const int opened = is_made ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC) : -1;
      if (opened >= 0) ::close(opened);
      if (opened < 0 && errno != ENXIO) GTEST_SKIP() << "no device files can be used here";
    }
    begin({.state = state(), .machine = *std::move(machine), .policy = "fifo", .futures = 0});
  }

  static constexpr const char* kTry =
      "for gpu in 0 1; do (exec 3<gpu$gpu) 2>/dev/null || sh -c \"exec 3<gpu$gpu\" 2>&1; done | "
      "sed 's/.*: //' > said";
  static constexpr const char* kOpen = "No such device or address\n";
  static constexpr const char* kClosed = "Operation not permitted\n";

  std::string said_by(const store::Submission& asked) {
    const JobNumber job = submit(asked);
    EXPECT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
    return text("said");
  }
};

TEST_F(ClosedGpus, AJobOpensItsOwnOnly) {
  EXPECT_EQ(said_by(shell(kTry, 1)), fmt::format("{}{}", kOpen, kClosed));
  EXPECT_EQ(said_by(shell(kTry, 2)), fmt::format("{}{}", kOpen, kOpen));
}

TEST_F(ClosedGpus, AJobWithoutGpusOpensNone) {
  EXPECT_EQ(said_by(shell(kTry, 0)), fmt::format("{}{}", kClosed, kClosed));
}

TEST_F(ClosedGpus, NorDoesItMakeADeviceFileOfItsOwn) {
  const std::string made = said_by(shell("mknod mine c 195 1 2>&1 | sed 's/.*: //' > said", 1));
  EXPECT_EQ(made, kClosed);
}

TEST_F(ClosedGpus, AJobThatMayBeGivenOthersAsItGoesOnIsNotKeptFromThem) {
  store::Submission asked = shell(kTry, 1);
  asked.max_gpus = 2;
  EXPECT_EQ(said_by(asked), fmt::format("{}{}", kOpen, kOpen));
}

}  // namespace
}  // namespace almanac::machine
