// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that begins again on a machine that is not as it was: a GPU is gone, the clock is
/// wrong.
#include <chrono>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "live/box.h"
#include "shepherd/run.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

/// As the power does it.
void lose(const std::string& folder) {
  using Run = shepherd::Run;
  ::kill(Run::adopt(folder)->shepherd(), SIGKILL);
  while (Run::look(folder) == Run::Found::lives) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(Box, BeginsWithoutTheGpuOfAJobThatIsGone) {
  begin("fifo", 4);
  const JobNumber first = submit(shell("sleep 1000", 2));
  store::Submission asked = shell("[ $ALMANAC_ATTEMPT = 2 ] || sleep 1000");
  const JobNumber second = submit(asked);
  asked.requeue = trace::Requeue::yes;
  const JobNumber third = submit(asked);
  for (const JobNumber each : {first, second, third}) {
    ASSERT_TRUE(comes_to(each, JobState::running));
    const std::string folder =
        state() + "/runs/" + std::to_string(static_cast<std::int64_t>(each)) + ".1";
    ASSERT_TRUE(eventually([&] { return shepherd::means_of(folder).has_value(); }));
  }
  end();
  for (const char* const folder : {"/runs/1.1", "/runs/2.1", "/runs/3.1"}) lose(state() + folder);
  begin("fifo", 2);
  EXPECT_TRUE(comes_to(first, JobState::node_fail));
  EXPECT_TRUE(comes_to(second, JobState::node_fail));
  EXPECT_TRUE(comes_to(third, JobState::completed));
  EXPECT_EQ(look(third).attempts, 2);
}

TEST_F(Box, BeginsInNoFolderOfAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  std::filesystem::create_directory(state());
  ASSERT_EQ(::chown(state().c_str(), 4321, 4321), 0);
  const auto opened = open_local_service({.state = state(), .machine = made_up(1)});
  ASSERT_FALSE(opened);
  EXPECT_NE(to_string(opened.error()).find("belongs to user 4321"), std::string::npos);
}

TEST_F(Box, SaysThatItsJobsCameAheadOfTheClock) {
  begin("fifo", 1);
  store::Submission asked = shell("true");
  asked.hold = true;
  store::Job job = look(submit(asked));
  end();
  {
    auto store = store::Store::open(state() + "/almanac.db");
    job.since += 24h * 400;
    store::Store::Batch batch;
    batch.put(job);
    ASSERT_TRUE(store->commit(batch));
  }
  begin("fifo", 1);
  std::string warnings;
  for (const std::string& each : service_->overview().warnings) warnings += each + "\n";
  EXPECT_NE(warnings.find("ahead of the clock"), std::string::npos) << warnings;
}

class History : public Box {
 protected:
  /// Runs a job, and says that it ended so long ago.
  JobNumber ended_before(Duration ago) {
    begin("fifo", 1);
    const JobNumber job = submit(shell("true"));
    EXPECT_TRUE(comes_to(job, JobState::completed));
    store::Job old = look(job);
    end();
    auto store = store::Store::open(state() + "/almanac.db");
    old.submit -= ago;
    old.since -= ago;
    old.start -= ago;
    old.end -= ago;
    store::Store::Batch batch;
    batch.put(old);
    batch.set("history_until_ms", std::to_string(old.end.time_since_epoch().count()));
    EXPECT_TRUE(store->commit(batch));
    return job;
  }
};

TEST_F(History, IsKeptWhenTheClockIsFarAhead) {
  const JobNumber old = ended_before(24h * 400);
  begin("fifo", 1);
  EXPECT_TRUE(service_->job(old));
  ASSERT_EQ(service_->overview().warnings.size(), 1U);
  EXPECT_NE(service_->overview().warnings.front().find("the clock is 400 days"), std::string::npos);
}

TEST_F(History, IsForgottenWhenItIsOld) {
  const JobNumber old = ended_before(24h * 400);
  ended_before(24h * 10);
  begin("fifo", 1);
  EXPECT_FALSE(service_->job(old));
  EXPECT_TRUE(service_->overview().warnings.empty());
}

}  // namespace
}  // namespace almanac::machine
