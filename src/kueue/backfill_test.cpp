// SPDX-License-Identifier: Apache-2.0
#include "kueue/backfill.h"

#include <deque>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::kueue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

/// A queue of 8 GPUs of type a, and in some tests 4 of type b.
class BackfillTest : public testing::Test {
 protected:
  explicit BackfillTest(Amount of_b = 0) {
    setup_.flavors = {{.name = "a"}, {.name = "b"}};
    ResourceGroup group{{{"a", {{kGpu, {8}}}}}};
    if (of_b > 0) group.flavors.push_back({"b", {{kGpu, {of_b}}}});
    setup_.queues = {{.name = "q", .groups = {group}, .is_strict = true}};
    world_.emplace(setup_);
  }

  void hold(Amount gpus, Duration left, FlavorAt flavor = 0) {
    const Wants usage{{world_->tree.slot(flavor, 0), gpus}};
    world_->tree.take(0, usage);
    holding_.push_back({usage, left});
  }
  void wait(Amount gpus, Duration run, std::int64_t priority = 0) {
    Submission asked{.name = std::to_string(workloads_.size()), .queue = "q"};
    asked.pod_sets = {{.name = "main", .requests = {{kGpu, gpus}}}};
    workloads_.push_back(world_->resolve(asked).value());
    line_.push_back({&workloads_.back(), priority, run});
  }
  Backfill found() { return backfill(*world_, 0, holding_, line_); }

  static constexpr const char* kGpu = "nvidia.com/gpu";
  kueue::Setup setup_;
  std::optional<World> world_;
  std::vector<Holding> holding_;
  std::deque<Workload> workloads_;
  std::vector<Waiting> line_;
};

// 4 GPUs are free for 2 h, then all 8: the head of 8 starts after 2 h. What ends by then goes
// first.
TEST_F(BackfillTest, WhatEndsBeforeTheHeadStartsGoesFirst) {
  hold(4, 2h);
  wait(8, 1h);
  wait(2, 3h);
  wait(2, 2h);
  wait(2, 1h);
  const Backfill made = found();
  EXPECT_THAT(made.now, ElementsAre(2, 3));
  EXPECT_THAT(made.head, Optional(0));
  EXPECT_EQ(world_->tree.used(0, 0), 4) << "nothing is taken";
}

// The head of 5 starts after 2 h and leaves 3 of the 8: one of 2 that runs longer fits beside it, a
// second one does not.
TEST_F(BackfillTest, WhatFitsBesideTheHeadGoesFirst) {
  hold(4, 2h);
  wait(5, 1h);
  wait(2, 9h);
  wait(2, 9h);
  EXPECT_THAT(found().now, ElementsAre(1));
}

TEST_F(BackfillTest, AnUnknownRunTimeEndsAfterTheHeadStarts) {
  hold(4, 2h);
  wait(8, 1h);
  wait(2, kNoDuration);
  EXPECT_THAT(found().now, IsEmpty());
}

// The first two fit and are no head. Their ends count: after 1 h, 4 + 1 GPUs are free again and 1
// is free already, so the head of 6 starts then. The other 2 end after 5 h.
TEST_F(BackfillTest, WhatStartsNowIsExpectedToEnd) {
  hold(2, 5h);
  wait(4, 1h);
  wait(1, 1h);
  wait(6, 1h);
  wait(1, 2h);
  const Backfill made = found();
  EXPECT_THAT(made.now, ElementsAre(0, 1));
  EXPECT_THAT(made.head, Optional(2)) << "one GPU is free, and none beside the head";
}

// 6 GPUs serve for ever: one of 8 never starts, and one of 2 that waits for an hour is the head.
TEST_F(BackfillTest, WhatNeverStartsIsNoHead) {
  hold(6, kNoDuration);
  hold(1, 1h);
  wait(8, 1h);
  wait(2, 1h);
  wait(1, 1h);
  const Backfill made = found();
  EXPECT_THAT(made.head, Optional(1));
  EXPECT_THAT(made.now, ElementsAre(2));
}

// Kueue looks at the higher priority first, and no rank changes that.
TEST_F(BackfillTest, NothingPassesAHeadOfAHigherPriority) {
  hold(4, 2h);
  wait(8, 1h, 1000);
  wait(1, 1h, 1000);
  wait(1, 1h);
  const Backfill made = found();
  EXPECT_THAT(made.now, ElementsAre(1));
  EXPECT_THAT(made.head, Optional(0));
}

TEST_F(BackfillTest, WithoutAHeadAllStart) {
  wait(3, 1h);
  wait(3, kNoDuration);
  EXPECT_THAT(found().now, ElementsAre(0, 1));
  EXPECT_EQ(found().head, std::nullopt);
}

TEST_F(BackfillTest, AtMost19StartBeforeItLooksAgain) {
  for (int at = 0; at < 8; ++at) wait(1, 1h);
  for (int at = 0; at < 30; ++at) wait(0, 1h);
  EXPECT_EQ(found().now.size(), kMostNow);
}

struct TwoFlavors : BackfillTest {
  TwoFlavors() : BackfillTest(4) {}
};

// The head of 8 can have type a only, after 2 h: the 4 of type b are free for others.
TEST_F(TwoFlavors, AFlavorThatTheHeadDoesNotUseIsFree) {
  hold(8, 2h);
  wait(8, 1h);
  wait(4, 9h);
  const Backfill made = found();
  EXPECT_THAT(made.now, ElementsAre(1));
  EXPECT_THAT(made.head, Optional(0));
}

}  // namespace
}  // namespace almanac::kueue
