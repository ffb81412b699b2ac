// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which batches of requests with deadlines run: cases by hand, and against the best that can be.
#include "inference/dispatch.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/registry.h"

namespace almanac::inference {
namespace {

DispatchedRun played(const std::string& name, const std::vector<Variant>& variants,
                     const std::vector<TimedRequest>& requests, int gpus = 1) {
  const auto dispatcher = registry().dispatchers.find(name)->make();
  return play_dispatched(variants, requests, gpus, *dispatcher);
}

Variant batching(double fixed_ms, double item_ms) {
  return {.name = "one", .task = "see", .fixed_ms = fixed_ms, .item_ms = item_ms, .most_batch = 16};
}

TEST(Shepherd, StopsABatchForOneThatIsThreeTimesAsLarge) {
  const std::vector<Variant> variants{batching(100, 0), batching(10, 0)};
  // One request of 100 ms runs when others come that would be late after it.
  std::vector<TimedRequest> requests{{0, 400, 0}};
  for (int each = 0; each < 3; ++each) requests.push_back({20, 60, 1});
  const DispatchedRun three = played("shepherd", variants, requests);
  EXPECT_EQ(three.preempted, 0U);  // 3 < 3.03
  EXPECT_EQ(three.in_time, 1U);
  requests.push_back({20, 60, 1});
  const DispatchedRun four = played("shepherd", variants, requests);
  EXPECT_EQ(four.preempted, 1U);
  EXPECT_EQ(four.in_time, 5U);  // what was stopped is run anew, from 30 to 130 ms
  EXPECT_EQ(four.finish_ms[0], 130);
  EXPECT_EQ(four.busy_ms, 20 + 10 + 100);
}

TEST(Shepherd, LeavesOutThoseWhoseDeadlineWouldMakeTheBatchSmall) {
  const std::vector<Variant> variants{batching(10, 10)};
  // A batch of 3 takes 40 ms, which the first does not wait for; of 4 takes 50.
  const DispatchedRun run =
      played("shepherd", variants, {{0, 25, 0}, {0, 45, 0}, {0, 45, 0}, {0, 45, 0}});
  EXPECT_EQ(run.in_time, 3U);
  EXPECT_EQ(run.finish_ms[1], 40);
}

TEST(EarliestStart, RunsTheModelThatMustStartSoonestInTheLargestBatchInTime) {
  const std::vector<Variant> variants{batching(10, 0), batching(10, 5)};
  const DispatchedRun run =
      played("earliest_start", variants, {{0, 100, 0}, {0, 35, 1}, {0, 60, 1}, {0, 60, 1}});
  // Two of the second model take 20 ms and may start at 15 ms; the third of it goes after them.
  EXPECT_EQ(run.finish_ms[1], 20);
  EXPECT_EQ(run.finish_ms[2], 20);
  EXPECT_EQ(run.finish_ms[3], 35);
  EXPECT_EQ(run.finish_ms[0], 45);
  EXPECT_EQ(run.in_time, 4U);
}

/// The most requests that one GPU can answer in time: all orders of all batches. For a handful.
std::size_t best_of_all(const std::vector<Variant>& variants,
                        const std::vector<TimedRequest>& requests, double now, unsigned left) {
  std::size_t best = 0;
  for (unsigned some = left; some > 0; some = (some - 1) & left) {
    std::optional<std::size_t> variant;
    double start = now, deadline = 1e18;
    int size = 0;
    bool is_batch = true;
    for (std::size_t each = 0; each < requests.size() && is_batch; ++each) {
      if ((some >> each & 1U) == 0) continue;
      is_batch = !variant || *variant == requests[each].variant;
      variant = requests[each].variant;
      start = std::max(start, requests[each].arrival_ms);
      deadline = std::min(deadline, requests[each].deadline_ms);
      ++size;
    }
    if (!is_batch || size > variants[*variant].most_batch) continue;
    const double ends = start + variants[*variant].batch_ms(size, 1);
    if (ends > deadline) continue;
    best = std::max(
        best, static_cast<std::size_t>(size) + best_of_all(variants, requests, ends, left & ~some));
  }
  return best;
}

TEST(Dispatchers, AnswerNoMoreThanTheBestAndShepherdAtLeastItsBound) {
  constexpr double kBound = 12.62;
  std::size_t ours = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const std::vector<Variant> variants{batching(1 + 4 * rng.uniform(), 1 + 4 * rng.uniform()),
                                        batching(1 + 8 * rng.uniform(), 0.5)};
    std::vector<TimedRequest> requests;
    double now = 0;
    for (int each = 0; each < 6; ++each) {
      now += 3 * rng.exponential();
      requests.push_back({now, now + 6 + 15 * rng.uniform(), rng.below(2)});
    }
    const std::size_t best =
        best_of_all(variants, requests, 0, (1U << static_cast<unsigned>(requests.size())) - 1);
    for (const auto& name : registry().dispatchers.names()) {
      SCOPED_TRACE(name + " " + std::to_string(seed));
      const DispatchedRun run = played(name, variants, requests);
      EXPECT_LE(run.in_time, best);
      for (std::size_t each = 0; each < requests.size(); ++each) {
        // What is answered is in time: the rest was dropped before.
        EXPECT_TRUE(run.finish_ms[each] <= requests[each].deadline_ms ||
                    run.finish_ms[each] > 1e300);
      }
      if (name != "shepherd") continue;
      EXPECT_GE(kBound * static_cast<double>(run.in_time), static_cast<double>(best));
      ours += run.in_time;
      all += best;
    }
  }
  EXPECT_GT(static_cast<double>(ours), 0.75 * static_cast<double>(all));
}

}  // namespace
}  // namespace almanac::inference
