// SPDX-License-Identifier: Apache-2.0

/// \file
/// What one job, one account or the machine's clock does to the others: nothing.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "live/box.h"
#include "process/descriptor.h"
#include "shepherd/folder.h"
#include "shepherd/record.h"

namespace almanac::machine {
namespace {

namespace fs = std::filesystem;
using store::JobNumber;
using trace::JobState;

class Hostile : public Box {
 protected:
  /// Of a user that had a name when it submitted, and is unknown now.
  store::Submission of_gone_user(const std::string& text) const {
    store::Submission asked = shell(text);
    asked.user = "gone";
    asked.uid = asked.gid = 54321;
    return asked;
  }
  static std::vector<std::int32_t> indices(int count) {
    std::vector<std::int32_t> made;
    for (int index = 0; index < count; ++index) made.push_back(index);
    return made;
  }
};

TEST_F(Hostile, AnAccountThatIsGoneStopsNobodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  begin("fifo", 4);
  store::Submission gone = of_gone_user("true");
  gone.indices = indices(50);
  const JobNumber array = submit(gone);
  ASSERT_TRUE(eventually([&] { return service_->job(array)->why_word == "JobLaunchFailure"; }));
  EXPECT_NE(service_->job(array)->why.find("the system has no user 54321"), std::string::npos)
      << service_->job(array)->why;
  for (int job = 0; job < 8; ++job) {
    const JobNumber mine = submit(shell("true", 4));
    ASSERT_TRUE(comes_to(mine, JobState::completed)) << "all GPUs are free for others";
    EXPECT_EQ(look(mine).attempts, 1);
  }
  const service::Overview overview = service_->overview();
  EXPECT_EQ(overview.running, 0) << "nothing that cannot start holds a GPU";
  ASSERT_EQ(overview.warnings.size(), 1U);
  EXPECT_EQ(overview.warnings.front(),
            "jobs of gone cannot be started: the system has no user 54321");
  EXPECT_EQ(look(array).attempts, 0);
  ASSERT_TRUE(service_->cancel({array}, me_, false));
  EXPECT_TRUE(comes_to(array, JobState::cancelled));
}

TEST_F(Hostile, LimitsOfAJobStopItsOwnCommandAtMost) {
  begin("fifo", 2);
  store::Submission bad = shell("exit 0");
  bad.resource_limits = {"nofile=0"};
  bad.indices = indices(20);
  const JobNumber array = submit(bad);
  const JobNumber mine = submit(shell("true", 2));
  ASSERT_TRUE(comes_to(mine, JobState::completed));
  EXPECT_TRUE(comes_to(array, JobState::failed))
      << "its command opens nothing, not even its libraries";
  EXPECT_TRUE(service_->overview().warnings.empty());
}

// A shepherd that dies without a word is the trouble of its own job as long as others start.
TEST_F(Hostile, OneJobWhoseShepherdDiesWithoutAWordStopsNobodyElse) {
  begin("fifo", 1);
  const std::string program = std::getenv("ALMANAC_SHEPHERD");
  const fs::path broken = folder_ / "shepherd";
  std::ofstream(broken) << "#!/bin/sh\ncase $1 in */1.*) exit 1;; esac\nexec " << program
                        << " \"$@\"\n";
  fs::permissions(broken, fs::perms::owner_all);
  ::setenv("ALMANAC_SHEPHERD", broken.c_str(), 1);
  const JobNumber bad = submit(shell("true"));
  ASSERT_TRUE(eventually([&] { return service_->job(bad)->why_word == "JobLaunchFailure"; }));
  for (int job = 0; job < 5; ++job) {
    EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  }
  EXPECT_TRUE(service_->overview().warnings.empty()) << "it is not the machine";
  ::setenv("ALMANAC_SHEPHERD", program.c_str(), 1);
  EXPECT_TRUE(comes_to(bad, JobState::completed)) << "it is tried again";
}

// What the store says of when it began was by another clock.
TEST_F(Hostile, ATimeLimitSurvivesAnyClock) {
  begin("fifo", 1);
  store::Submission asked = shell("echo once >> log; while [ ! -e go ]; do sleep 0.02; done");
  asked.time_limit = 1h;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("log") == "once\n"; }));
  for (const std::string shift : {"- 259200000", "+ 345600000"}) {  // 3 days back, a day ahead
    end();
    SQLite::Database(state() + "/almanac.db", SQLite::OPEN_READWRITE, 60'000)
        .exec("UPDATE job SET since_ms = since_ms " + shift + ", start_ms = start_ms " + shift);
    Config config{.state = state(), .machine = made_up(1), .policy = "fifo", .futures = 0};
    config.patience = 10ms;  // it would be killed past its shepherd after some 300 ms
    begin(std::move(config));
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    ASSERT_EQ(look(job).state, JobState::running) << "since" << shift << ": " << look(job).reason;
  }
  fs::create_directory(folder_ / "work" / "go");
  EXPECT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("log"), "once\n");
}

class Damaged : public Hostile, public testing::WithParamInterface<std::string> {};

// The job has ended, and may have done all that it was to do: it does not run again.
TEST_P(Damaged, LastWordRunsNoJobAgain) {
  begin("fifo", 1);
  store::Submission asked = shell("echo once >> log; while [ ! -e go ]; do sleep 0.02; done");
  asked.requeue = trace::Requeue::yes;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("log") == "once\n"; }));
  end();
  fs::create_directory(folder_ / "work" / "go");
  const std::string word = state() + "/runs/1.1" + shepherd::kExitFile;
  ASSERT_TRUE(eventually([&] { return fs::exists(word); }));
  std::string said = shepherd::read_file(word).value();
  if (GetParam() == "flipped") {
    const std::size_t at = said.find("\"status\": 0") + std::string("\"status\": ").size();
    said[at] = static_cast<char>(said[at] ^ 1);
  } else {
    said = GetParam() == "cut" ? said.substr(0, said.size() / 2) : GetParam();
  }
  std::ofstream(word, std::ios::trunc) << said;
  begin("fifo", 1);
  ASSERT_TRUE(comes_to(job, JobState::node_fail));
  EXPECT_NE(look(job).reason.find("its outcome is unknown"), std::string::npos) << look(job).reason;
  EXPECT_EQ(text("log"), "once\n");
  EXPECT_TRUE(eventually([&] { return fs::exists(state() + "/runs/damaged-1.1"); }));
}

std::string name_of(const testing::TestParamInfo<std::string>& each) {
  static constexpr std::array kNames{"Emptied", "Cut", "AFlippedBit", "NoFields", "Garbage"};
  return kNames[each.index];
}

INSTANTIATE_TEST_SUITE_P(By, Damaged, testing::Values("", "cut", "flipped", "{}", "garbage"),
                         name_of);

// Others are answered while the largest wishes that the limits allow are taken.
TEST_F(Hostile, TheLargestWishesOfAUserAreTaken) {
  begin("fifo", 4);
  store::Submission held = shell("true");
  held.hold = true;
  held.indices = indices(1000);
  const JobNumber before = submit(held);
  store::Submission many = shell("true");
  for (int job = 0; job < 1000; ++job) {
    many.after.push_back(JobNumber{static_cast<std::int64_t>(before) + job});
  }
  many.indices = indices(20'000);
  const auto numbers = service_->submit(many);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(service_->job(numbers->back())->why_word, "Dependency");
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  ASSERT_TRUE(service_->update(*numbers, {.time_limit = 1h}, me_));
  EXPECT_EQ(look(numbers->back()).asked->time_limit, 1h);
  ASSERT_TRUE(service_->hold(*numbers, me_));
  ASSERT_TRUE(service_->release(*numbers, me_));
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  end();
  begin("fifo", 4);
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  ASSERT_TRUE(service_->cancel(*numbers, me_, false));
  ASSERT_TRUE(comes_to(numbers->back(), JobState::cancelled));
  ASSERT_TRUE(eventually([&] { return service_->requeue(*numbers, me_).has_value(); }));
  EXPECT_EQ(look(numbers->back()).state, JobState::pending);
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  ASSERT_TRUE(service_->cancel(*numbers, me_, false));
}

}  // namespace
}  // namespace almanac::machine
