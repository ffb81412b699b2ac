// SPDX-License-Identifier: Apache-2.0
#include "steer/job_use.h"

#include <gtest/gtest.h>

namespace almanac::steer {
namespace {

/// A job of two GPUs on each of two nodes, whose agents tell every five seconds.
class JobUseTest : public testing::Test {
 protected:
  void tell(Duration time, const Cores& held, double use_a, double use_b) {
    for (; time > Duration{0}; time -= 5s) {
      now_ += 5s;
      tell("a", held, use_a);
      tell("b", held, use_b);
      use_.look(held, now_);
    }
  }
  void tell(const std::string& node, const Cores& held, double use) {
    agent::JobReport told{.job = manager::JobNumber{1}, .cores = 3, .bandwidth_gbs = 10};
    if (const auto limit = held.find(node); limit != held.end()) told.limit = limit->second;
    use_.take(node, {.length = 5s, .gpu_use = {0.0, use, use, std::nullopt}}, told, now_);
  }

  static manager::Job job() {
    return {.number = manager::JobNumber{1},
            .holds = {{.node = "a", .gpus = 0b110}, {.node = "b", .gpus = 0b110}}};
  }
  Time now_{1000s};
  JobUse use_{job(), {}, now_};
};

TEST_F(JobUseTest, IsToldOnceAllNodesHaveSettled) {
  tell(40s, {}, 0.8, 0.6);
  EXPECT_FALSE(use_.gpu_use());
  tell(20s, {}, 0.8, 0.6);
  EXPECT_DOUBLE_EQ(use_.gpu_use().value(), 1) << "as busy as they are with all cores";
  EXPECT_DOUBLE_EQ(use_.gpus_busy().value(), 0.7);
  EXPECT_DOUBLE_EQ(use_.cores_busy(now_).value(), 6);
  EXPECT_DOUBLE_EQ(use_.bandwidth_gbs(now_).value(), 20);
}

TEST_F(JobUseTest, AddsUpWhatItsNodesTell) {
  EXPECT_EQ(use_.used(), store::Used{}) << "no agent has told anything";
  tell(40s, {}, 0.8, 0.6);
  const store::Used used = use_.used();
  EXPECT_DOUBLE_EQ(used.core_seen_s, 40);
  EXPECT_DOUBLE_EQ(used.core_s, 6 * 40) << "three cores on each of two nodes";
  EXPECT_DOUBLE_EQ(used.gpu_seen_s, 40);
  EXPECT_DOUBLE_EQ(used.gpu_s, 0.7 * 40);
  EXPECT_EQ(used.most_memory_gb, 0) << "agents tell nothing of memory";
}

TEST_F(JobUseTest, CountsTheTimeOfWhichAllNodesTold) {
  tell("a", {}, 0.8);
  EXPECT_EQ(use_.used().core_seen_s, 0) << "node b is silent";
}

TEST_F(JobUseTest, IsBesideWhatItWasWithAllCores) {
  const Cores fewer{{"a", 4}, {"b", 4}};
  tell(60s, {}, 0.8, 0.8);
  tell(15s, fewer, 0.4, 0.4);
  EXPECT_FALSE(use_.gpu_use()) << "too early after the change";
  tell(60s, fewer, 0.4, 0.4);
  EXPECT_DOUBLE_EQ(use_.gpu_use().value(), 0.5);
  EXPECT_NE(use_.hurt_since(), kNoTime);
  tell(60s, {}, 0.8, 0.8);
  EXPECT_EQ(use_.hurt_since(), kNoTime);
}

TEST_F(JobUseTest, IsNotToldWhileItIsNotHeldAsWanted) {
  tell(60s, {}, 0.8, 0.8);
  use_.look({{"a", 4}}, now_);
  EXPECT_FALSE(use_.is_held());
  EXPECT_FALSE(use_.gpu_use());
}

TEST_F(JobUseTest, IsNotKnownAnyMoreWhenAnAgentFallsSilent) {
  tell(60s, {}, 0.8, 0.8);
  for (int looks = 0; looks < 10; ++looks) {
    now_ += 5s;
    tell("a", {}, 0.8);
  }
  use_.look({}, now_);
  EXPECT_FALSE(use_.gpu_use());
  EXPECT_FALSE(use_.cores_busy(now_));
}

TEST_F(JobUseTest, IsWhatTheJobSaysItselfIfItSaysAnything) {
  for (int looks = 0; looks < 20; ++looks) {
    now_ += 5s;
    tell("b", {}, 0.9);
    use_.take("a", {.length = 5s, .gpu_use = {0.9, 0.9, 0.9, 0.9}},
              {.job = manager::JobNumber{1}, .gpu_use = 0.3, .gpu_use_length = 5s}, now_);
    use_.look({}, now_);
  }
  EXPECT_DOUBLE_EQ(use_.gpus_busy().value(), 0.3);
}

TEST_F(JobUseTest, NeedsAllOfItsGpus) {
  EXPECT_DOUBLE_EQ(mean_use(0b11, {.gpu_use = {0.2, 0.4}}).value(), 0.3);
  EXPECT_FALSE(mean_use(0b101, {.gpu_use = {0.2, 0.4}})) << "the driver has two";
  EXPECT_FALSE(mean_use(0b11, {.gpu_use = {0.2, std::nullopt}}));
  EXPECT_FALSE(mean_use(0, {.gpu_use = {0.2}}));
}

}  // namespace
}  // namespace almanac::steer
