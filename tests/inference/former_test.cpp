// SPDX-License-Identifier: Apache-2.0

/// \file
/// What single batch formers promise.
#include <gtest/gtest.h>

#include "inference/registry.h"
#include "inference/simulation.h"

namespace almanac::inference {
namespace {

/// A millisecond for each token of a prompt and for each sequence that decodes.
class Plain final : public StepTime {
 public:
  Micros operator()(const Batch& batch) const override {
    return 1e3 * static_cast<double>(batch.prefill_tokens() + batch.decodes);
  }
};

std::vector<Outcome> play(const std::string& former, const std::vector<Request>& all,
                          Limits limits) {
  const Plain step;
  Simulation simulation(Requests{.all = all});
  limits.kv_blocks = 10'000;
  simulation.add(limits, step, registry().formers.find(former)->make());
  simulation.run(*registry().routers.find("round_robin")->make(1));
  return simulation.outcomes();
}

TEST(Fixed, LetsNothingJoinABatchThatRuns) {
  const auto seen =
      play("fixed",
           {{.arrival = 0, .prompt = 10, .output = 5}, {.arrival = 1, .prompt = 10, .output = 1}},
           {.sequences = 8});
  EXPECT_DOUBLE_EQ(seen[0].finish, 14e3);  // 10 ms of prompt, four tokens
  EXPECT_DOUBLE_EQ(seen[1].start, 14e3);
}

TEST(Fixed, LetsTheFirstOfABatchWaitForOthers) {
  const std::vector<Request> all{{.arrival = 0, .prompt = 10, .output = 1},
                                 {.arrival = 2e3, .prompt = 10, .output = 1},
                                 {.arrival = 6e3, .prompt = 10, .output = 1},
                                 {.arrival = 40e3, .prompt = 10, .output = 1}};
  const auto pairs = play("fixed", all, {.sequences = 2, .gather = 5e3});
  EXPECT_DOUBLE_EQ(pairs[0].start, 2e3);  // full
  EXPECT_DOUBLE_EQ(pairs[1].finish, 22e3);
  EXPECT_DOUBLE_EQ(pairs[2].start, 22e3);  // has waited while the others were computed
  EXPECT_DOUBLE_EQ(pairs[3].start, 45e3);
}

TEST(DropLate, TurnsAwayWhatCanNoLongerBeInTime) {
  const std::vector<Request> all{{.arrival = 0, .prompt = 40, .output = 1},
                                 {.arrival = 1e3, .prompt = 30, .output = 1},
                                 {.arrival = 20e3, .prompt = 20, .output = 1}};
  const auto seen = play("drop_late", all, {.first_token = 50e3});
  EXPECT_DOUBLE_EQ(seen[0].finish, 40e3);
  EXPECT_EQ(seen[1].finish, kNever);  // 40 + 30 - 1 ms
  EXPECT_EQ(seen[1].replica, -1);
  EXPECT_DOUBLE_EQ(seen[2].finish, 60e3);  // after 40 ms
  for (const Outcome& each : play("drop_late", all, {})) EXPECT_LT(each.finish, kNever);
}

TEST(Clockwork, BatchesAsManyPromptsAsTheOldestAllows) {
  std::vector<Request> all(7, {.arrival = 0, .prompt = 10, .output = 1});
  const auto seen = play("clockwork", all, {.first_token = 55e3});
  // Four in 40 ms; eight would take 80. Then one in 50 ms, as two would take 60; the others late.
  for (int each = 0; each < 4; ++each)
    EXPECT_DOUBLE_EQ(seen[static_cast<std::size_t>(each)].finish, 40e3);
  EXPECT_DOUBLE_EQ(seen[4].finish, 50e3);
  EXPECT_EQ(seen[5].finish, kNever);
  EXPECT_EQ(seen[6].finish, kNever);
}

TEST(Aimd, SettlesWhereAnIterationTakesAsLongAsItMay) {
  std::vector<Request> all(100, {.arrival = 0, .prompt = 1, .output = 400});
  const auto seen = play("aimd", all, {.per_token = 12e3});
  // A token each 9 to 13 ms, as that many sequences run; without a limit it would be 100 ms.
  double late = 0;
  for (std::size_t each = 20; each < 60; ++each) {
    const double token = (seen[each].finish - seen[each].first_token) / 399;
    EXPECT_LT(token, 16e3) << each;
    late += token > 12e3 * 1.2;
  }
  EXPECT_LT(late, 20);
  EXPECT_GT(seen[99].finish, 400 * 100 * 1e3 * 0.9);
}

}  // namespace
}  // namespace almanac::inference
