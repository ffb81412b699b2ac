// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a live service says of how fast a job runs.
#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "live/box.h"
#include "perf/catalogue_file.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

TEST_F(Box, TellsHowFastAJobRunsByItsModel) {
  const std::string speeds =
      std::string(std::getenv("ALMANAC_SOURCE_DIR")) + "/tests/support/linear.toml";
  begin({.state = state(),
         .machine = made_up(4),
         .policy = "fifo",
         .futures = 0,
         .speeds = std::make_shared<const perf::Catalogue>(*perf::read_catalogue(speeds))});
  store::Submission asked = shell("sleep 1000");
  asked.model = "half";
  const JobNumber known = submit(asked);
  asked.model = "";
  const JobNumber unknown = submit(asked);
  ASSERT_TRUE(comes_to(known, JobState::running));
  ASSERT_TRUE(comes_to(unknown, JobState::running));
  const auto pace = service_->job(known)->pace;
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->model, "half");
  EXPECT_DOUBLE_EQ(pace->rate, 1) << "it holds what it asked, alone";
  EXPECT_FALSE(service_->job(unknown)->pace);
  ASSERT_TRUE(service_->cancel({known}, me_, false));
  ASSERT_TRUE(service_->cancel({unknown}, me_, false));
  ASSERT_TRUE(comes_to(known, JobState::cancelled));
  EXPECT_FALSE(service_->job(known)->pace) << "it runs no more";
}

}  // namespace
}  // namespace almanac::machine
