// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job whose output could not be written says so, while it runs and when it has ended.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::Contains;
using trace::JobState;

class LostOutput : public Box {
 protected:
  std::vector<std::string> explained(JobNumber job) {
    return service_->explain(job, service::Eyes::owner).value();
  }
};

TEST_F(LostOutput, IsSaidOfARunningJobAndOfOneThatHasEnded) {
  begin({.state = state(),
         .machine = made_up(4),
         .policy = "fifo",
         .futures = 0,
         .measuring = {.every = 20ms}});
  store::Submission asked = shell("echo lost; while [ ! -e go ]; do sleep 0.02; done");
  asked.out = "/dev/full";
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return look(job).lost_output == 5; }));
  EXPECT_EQ(look(job).state, JobState::running);
  EXPECT_THAT(explained(job), Contains("its log lacks 5 bytes of output"));
  EXPECT_TRUE(eventually([&] {
    const auto jobs = service_->jobs({});
    return jobs && jobs->size() == 1 && jobs->front().job.lost_output == 5;
  })) << "in lists too";

  std::ofstream(folder_ / "work" / "go").close();
  ASSERT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(look(job).lost_output, 5);
  EXPECT_THAT(explained(job), Contains("its log lacks 5 bytes of output"));
  EXPECT_TRUE(eventually([&] {
    const auto notes = service_->store().notes(job);
    return notes &&
           notes->back().detail.find("COMPLETED; 5 bytes of output lost") != std::string::npos;
  })) << "in the record, which is written after the state is known";
  end();
  begin();
  EXPECT_EQ(look(job).lost_output, 5) << "after a restart";
}

}  // namespace
}  // namespace almanac::machine
