// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that is short of what the machine lends it: it believes nothing of a job that it could
/// not look at.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "live/box.h"
#include "process/descriptor.h"
#include "process/open_files.h"

namespace almanac::machine {
namespace {

namespace fs = std::filesystem;

using store::JobNumber;
using trace::JobState;

/// Takes all descriptors that there are for this process, as long as it lives.
class AllDescriptors {
 public:
  AllDescriptors() {
    process::limit_open_files(256);
    for (;;) {
      process::Descriptor one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!one) break;
      taken_.push_back(std::move(one));
    }
  }
  AllDescriptors(const AllDescriptors&) = delete;
  AllDescriptors& operator=(const AllDescriptors&) = delete;
  ~AllDescriptors() {
    taken_.clear();
    process::limit_open_files(before_);
  }

 private:
  std::uint64_t before_ = process::most_open_files();
  std::vector<process::Descriptor> taken_;
};

class Short : public Box, public testing::WithParamInterface<bool> {};

TEST_P(Short, OfDescriptorsItWaitsUntilItCanTellHowAJobEnded) {
  begin("fifo", 1);
  store::Submission asked = shell("echo once >> log; while [ ! -e go ]; do sleep 0.02; done");
  asked.requeue = GetParam() ? trace::Requeue::yes : trace::Requeue::unsaid;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("log") == "once\n"; }));
  {
    const AllDescriptors taken;
    fs::create_directory(folder_ / "work" / "go");
    const fs::path run = fs::path(state()) / "runs/1.1";
    ASSERT_TRUE(eventually([&] { return fs::exists(run / "exit.json") || !fs::exists(run); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it hears of the end
  }
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  EXPECT_EQ(look(job).attempts, 1);
  EXPECT_EQ(text("log"), "once\n");
}

TEST_F(Box, TriesSeldomToStartWhatCannotBeStarted) {
  const std::string program = std::getenv("ALMANAC_SHEPHERD");
  const fs::path broken = folder_ / "shepherd";
  std::ofstream(broken) << "#!/bin/sh\necho >> " << (folder_ / "work" / "tries").string()
                        << "\nexit 1\n";
  fs::permissions(broken, fs::perms::owner_all);
  ::setenv("ALMANAC_SHEPHERD", broken.c_str(), 1);
  begin("fifo", 2);
  const JobNumber first = submit(shell("echo once >> log"));
  const JobNumber second = submit(shell("echo once >> log"));
  ASSERT_TRUE(eventually([&] { return text("tries").size() >= 4; }));
  // However long that took: the next try is twice as far as the last.
  EXPECT_LE(text("tries").size(), 10U);
  EXPECT_TRUE(eventually([&] {
    return service_->job(first)->why.find("jobs cannot be started") != std::string::npos;
  }));
  EXPECT_EQ(service_->overview().warnings.size(), 1U);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_LE(text("tries").size(), 10U);
  ::setenv("ALMANAC_SHEPHERD", program.c_str(), 1);
  ASSERT_TRUE(comes_to(first, JobState::completed));
  ASSERT_TRUE(comes_to(second, JobState::completed));
  EXPECT_EQ(text("log"), "once\nonce\n");
  EXPECT_TRUE(service_->overview().warnings.empty());
}

INSTANTIATE_TEST_SUITE_P(RequeueOrNot, Short, testing::Bool());

}  // namespace
}  // namespace almanac::machine
