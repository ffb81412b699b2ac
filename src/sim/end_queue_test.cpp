// SPDX-License-Identifier: Apache-2.0
#include "sim/end_queue.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::sim {
namespace {

TEST(EndQueue, KeepsTheOrderInWhichEndsOfOneInstantWerePushed) {
  EndQueue queue(3);
  queue.push(Time{5s}, JobId{2});
  queue.push(Time{5s}, JobId{0});
  queue.push(Time{4s}, JobId{1});
  std::vector<JobId> order;
  for (; !queue.empty(); queue.pop()) order.push_back(queue.job());
  EXPECT_EQ(order, (std::vector<JobId>{JobId{1}, JobId{2}, JobId{0}}));
}

RC_GTEST_PROP(EndQueue, IsAMultimapFromWhichAnythingCanBeTaken, ()) {
  constexpr std::uint32_t kJobs = 50;
  EndQueue ours(kJobs);
  std::map<std::pair<Time, int>, JobId> model;  // by time, then order of pushing
  std::map<JobId, std::pair<Time, int>> where;
  int pushed = 0;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint32_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, kJobs), rc::gen::inRange(0, 12)));
  for (const auto& [number, second] : steps) {
    const JobId job{number};
    if (second == 0) {
      if (model.empty()) continue;
      where.erase(model.begin()->second);
      model.erase(model.begin());
      ours.pop();
    } else if (const auto found = where.find(job); found != where.end()) {
      model.erase(found->second);
      where.erase(found);
      ours.erase(job);
    } else {
      where[job] = {Time{second * 1s}, pushed++};
      model[where[job]] = job;
      ours.push(Time{second * 1s}, job);
    }
    RC_ASSERT(ours.empty() == model.empty());
    if (model.empty()) continue;
    RC_ASSERT(ours.job() == model.begin()->second);
    RC_ASSERT(ours.next() == model.begin()->first.first);
  }
}

}  // namespace
}  // namespace almanac::sim
