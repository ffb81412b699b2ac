// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that runs for long: the policy is begun anew without the jobs that have ended, and no
/// user notices.
#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

TEST_F(Box, KeepsFewOfManyJobsInMemory) {
  constexpr std::size_t kMostEnded = 200;
  constexpr int kBatches = 3;
  constexpr int kBatch = 400;
  begin({.state = state(),
         .machine = made_up(4),
         .policy = "sjf",
         .futures = 0,
         .most_ended = kMostEnded});
  const JobNumber runs = submit(shell("while [ ! -e stop ]; do sleep 0.05; done; echo once", 3));
  const JobNumber first = submit(shell("echo first >> order", 4));
  const JobNumber second = submit(shell("echo second >> order", 4));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  store::Submission many = shell("echo never", 4);
  for (std::int32_t index = 0; index < kBatch; ++index) many.indices.push_back(index);
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto numbers = service_->submit(many);
    ASSERT_TRUE(numbers) << to_string(numbers.error());
    std::vector<std::thread> threads;
    std::atomic<std::size_t> next = 0;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < numbers->size(); at = next++) {
          EXPECT_TRUE(service_->cancel({(*numbers)[at]}, me_, false));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(eventually([&] { return service_->counters().records < kMostEnded + 3; }));
  }
  const std::map<trace::JobState, std::uint64_t> outcomes = service_->counters().ended;
  ASSERT_EQ(outcomes.size(), 1U) << "all ended alike";
  EXPECT_EQ(outcomes.begin()->second, kBatches * kBatch);
  EXPECT_EQ(service_->jobs()->size(), 3U);
  std::ofstream(folder_ / "work" / "stop") << '\n';
  for (const JobNumber each : {runs, first, second}) {
    ASSERT_TRUE(comes_to(each, JobState::completed));
    EXPECT_EQ(look(each).attempts, 1);
  }
  EXPECT_EQ(text("almanac-1.out"), "once\n");
  EXPECT_EQ(text("order"), "first\nsecond\n");
}

}  // namespace
}  // namespace almanac::machine
