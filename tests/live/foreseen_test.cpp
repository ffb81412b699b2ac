// SPDX-License-Identifier: Apache-2.0

/// \file
/// What users are told of the start and the end of their jobs.
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "live/box.h"
#include "perf/catalogue_file.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

TEST_F(Box, ForeseesAJobThatNobodyHasSubmitted) {
  begin("fifo", 1, 16);
  store::Submission asked = shell("sleep 0.05");
  for (int at = 0; at < 20; ++at) ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  std::optional<service::Expected> found;
  const auto is_foreseen = [&] {
    found = service_->foresee(asked).value_or(std::nullopt);
    return found.has_value();
  };
  ASSERT_TRUE(eventually(is_foreseen));
  EXPECT_EQ(found->start_to, found->at) << "the machine is free";
  store::Submission large = asked;
  large.gpus = 1000;
  std::swap(asked, large);
  ASSERT_TRUE(eventually(is_foreseen));
  EXPECT_EQ(found->start_from, kNever);
  EXPECT_EQ(service_->jobs()->size(), 0U) << "nothing was submitted";
}

TEST_F(Box, TellsWhenAJobWillStart) {
  begin("fifo", 1, 16);
  store::Submission asked = shell("sleep 0.05");
  for (int at = 0; at < 20; ++at) ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  submit(shell("sleep 1000"));
  const JobNumber waits = submit(asked);
  const auto expected = service_->expect(waits, 30s);
  ASSERT_TRUE(expected);
  EXPECT_GE(expected->start_to, expected->start_from);
  EXPECT_GE(expected->end_from, expected->start_from);
  EXPECT_GT(expected->start_from, look(waits).submit);
  ASSERT_TRUE(eventually([&] { return !service_->store().told(waits)->empty(); }));
  ASSERT_TRUE(service_->cancel({JobNumber{21}}, me_, false));
  ASSERT_TRUE(comes_to(waits, JobState::completed));
}

// Two GPUs. A task of an array that runs one at a time holds one. A job waits for both, behind the
// next task, which is not in the queue.
TEST_F(Box, ForeseesTasksThatWaitForRoomInTheirArray) {
  begin("fifo+scan", 2, 16);
  store::Submission asked = shell("sleep 1000");
  asked.time_limit = 1h;
  asked.indices = {1, 2};
  asked.at_once = 1;
  const auto tasks = service_->submit(asked).value();
  ASSERT_TRUE(comes_to(tasks[0], JobState::running));
  store::Submission both = shell("true", 2);
  both.time_limit = 1h;
  const JobNumber waits = submit(both);
  const auto first = service_->expect(tasks[0], 30s);
  const auto second = service_->expect(tasks[1], 30s);
  const auto last = service_->expect(waits, 30s);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  ASSERT_TRUE(last);
  EXPECT_GT(second->start_from, second->at);
  EXPECT_GT(last->start_by, first->end_by);
  ASSERT_TRUE(service_->cancel({waits, tasks[1], tasks[0]}, me_, true));
  EXPECT_TRUE(comes_to(tasks[0], JobState::cancelled));
}

// Under a policy that stops jobs for shorter ones a job waits all the same until a replica that is
// kept has ended.
TEST_F(Box, ForeseesThatAReplicaKeepsItsGpu) {
  begin("srtf", 1, 16);
  store::Submission asked = shell("sleep 0.05");
  for (int at = 0; at < 20; ++at) ASSERT_TRUE(comes_to(submit(asked), JobState::completed));
  store::Submission replica = shell("sleep 1000");
  replica.name = "replica";
  replica.kept = true;
  const JobNumber holds = submit(replica);
  ASSERT_TRUE(comes_to(holds, JobState::running));
  const JobNumber waits = submit(asked);
  const auto expected = service_->expect(waits, 30s);
  ASSERT_TRUE(expected);
  const auto ends = service_->expect(holds, 30s);
  ASSERT_TRUE(ends);
  EXPECT_GT(expected->start_from, expected->at);
  EXPECT_GE(expected->start_to, ends->end_from);
  ASSERT_TRUE(service_->cancel({holds}, me_, false));
  ASSERT_TRUE(comes_to(waits, JobState::completed));
}

TEST_F(Box, TellsWhenARunningJobWillEnd) {
  begin("fifo", 1, 16);
  store::Submission asked = shell("sleep 1000");
  asked.time_limit = 1h;
  const JobNumber runs = submit(asked);
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const auto end = [&]() -> std::optional<service::Expected> {
    return service_->job(runs)->expected;
  };
  ASSERT_TRUE(eventually([&] { return end().has_value(); }));
  EXPECT_EQ(end()->start_to, kNoTime);
  EXPECT_GE(end()->end_from, end()->at);
  EXPECT_LE(end()->end_from, end()->end_to);
  EXPECT_LE(end()->end_to, look(runs).start + 1h + 1min);
  // It had no need to ask when it starts; of its end it is told once.
  ASSERT_TRUE(eventually([&] { return !service_->store().told(runs)->empty(); }));
  EXPECT_EQ(service_->store().told(runs)->front().start_from, kNoTime);
  EXPECT_NE(service_->store().told(runs)->front().end_from, kNoTime);
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  ASSERT_TRUE(comes_to(runs, JobState::cancelled));
  EXPECT_FALSE(end());
}

TEST_F(Box, ExpectsNobodyToRunBeyondItsLimit) {
  begin("fifo", 1, 16);
  store::Submission asked = shell("sleep 1000");
  asked.time_limit = 1h;
  const JobNumber runs = submit(asked);
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const JobNumber waits = submit(asked);
  const auto expected = service_->expect(waits, 30s);
  ASSERT_TRUE(expected);
  EXPECT_LE(expected->start_to, look(runs).start + 1h + 1min);
  EXPECT_LE(expected->end_to, look(runs).start + 2h + 1min);
  ASSERT_TRUE(service_->cancel({waits}, me_, false));
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  EXPECT_TRUE(comes_to(runs, JobState::cancelled));
}

TEST_F(Box, SaysNothingOfWhatIsYearsAway) {
  begin("fifo", 1, 16);
  // Nothing has ended here: each may run for anything up to a month.
  store::Submission asked = shell("sleep 1000");
  asked.indices.resize(1000);
  std::iota(asked.indices.begin(), asked.indices.end(), 0);
  const std::vector<JobNumber> tasks = service_->submit(asked).value();
  const auto first = service_->expect(tasks[1], 30s);
  ASSERT_TRUE(first);
  EXPECT_LT(first->start_to, first->at + 24h * 365);
  const auto last = service_->expect(tasks.back(), 30s);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->start_from, kNever);
  EXPECT_EQ(last->end_to, kNever);
}

TEST_F(Box, TellsWhatOtherNumbersOfGpusWouldBring) {
  // Of the model `half` two GPUs do as much as one, and four twice as much.
  const std::string speeds =
      std::string(std::getenv("ALMANAC_SOURCE_DIR")) + "/tests/support/linear.toml";
  begin({.state = state(),
         .machine = made_up(4),
         .policy = "fifo",
         .futures = 16,
         .speeds = std::make_shared<const perf::Catalogue>(*perf::read_catalogue(speeds))});
  const JobNumber before = submit(shell("sleep 1000", 4));
  store::Submission asked = shell("true");
  asked.max_gpus = 8;
  asked.model = "half";
  asked.deadline = look(before).submit + 24h;
  const JobNumber scales = submit(asked);
  asked.model = "";
  const JobNumber unknown = submit(asked);
  const auto expected = service_->expect(scales, 30s);
  ASSERT_TRUE(expected);
  ASSERT_TRUE(expected->other_gpus);
  ASSERT_EQ(expected->other_gpus->size(), 2U) << "eight are more than there are";
  const service::WithGpus& two = expected->other_gpus->front();
  const service::WithGpus& four = expected->other_gpus->back();
  EXPECT_EQ(two.gpus, 2);
  EXPECT_EQ(four.gpus, 4);
  EXPECT_LE(four.end_by, two.end_by);
  EXPECT_GE(four.kept.value(), two.kept.value());
  EXPECT_EQ(service_->job(scales)->expected->other_gpus, expected->other_gpus);
  // It is not known how a job scales that no model is named like.
  const auto plain = service_->expect(unknown, 30s);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->other_gpus && plain->other_gpus->empty());
}

}  // namespace
}  // namespace almanac::machine
