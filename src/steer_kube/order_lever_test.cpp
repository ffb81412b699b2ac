// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/order_lever.h"

#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::steer_kube {
namespace {

class OrderLeverTest : public testing::Test {
 protected:
  /// Two workloads wait, and the newer one is to be first.
  void SetUp() override {
    for (const char* const name : {"old", "new"}) {
      picture_.workloads.push_back(
          {.name = name, .name_space = "a", .uid = name, .version = "1", .created = Time{}});
    }
    picture_.workloads[1].created += 1h;
    lines_ = {{.queue = "q", .places = {{.workload = 1}, {.workload = 0}}}};
    lever_.look(picture_, lines_, 0);
  }

  /// Now 30 small workloads wait behind an older wide one and are to go before it. Returns how many
  /// get ranks while none ends.
  int ranks_of_burst(bool is_strict) {
    constexpr std::size_t kSmall = 30;
    picture_.workloads.resize(1);
    Line line{.queue = "q", .bands = {kSmall, kSmall + 1}, .is_strict = is_strict};
    for (std::size_t at = 1; at <= kSmall; ++at) {
      const std::string name = "small-" + std::to_string(at);
      picture_.workloads.push_back(
          {.name = name, .name_space = "a", .uid = name, .version = "1", .created = Time{} + 2h});
      line.places.push_back({.workload = at});
    }
    line.places.push_back({.workload = 0});
    lines_ = {line};
    lever_.look(picture_, lines_, 0);
    int made = 0;
    for (auto next = lever_.next(begin_); next; next = lever_.next(begin_)) {
      EXPECT_TRUE(lever_.begin(*next, Time{}));
      lever_.end(*next, {.status = 200}, begin_);
      ++made;
    }
    return made;
  }

  TemporaryFolder folder_;
  OrderLever lever_{{.order = service::Switch::on},
                    OrderJournal::open(folder_ / "order.jsonl").value()};
  kube::Picture picture_;
  std::vector<Line> lines_;
  const OrderLever::Instant begin_{};
};

TEST_F(OrderLeverTest, TheFirstGetsTheHighestRank) {
  const auto next = lever_.next(begin_);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->change.uid, "new");
  EXPECT_EQ(next->change.becomes, 3);
}

// 20 numbers may be written at first. What is given back takes nothing from that.
TEST_F(OrderLeverTest, RestoresCostNoBudget) {
  const OrderLever::Next back{.change = {.uid = "x"}, .is_restore = true};
  for (int times = 0; times < 30; ++times) {
    ASSERT_TRUE(lever_.begin(back, Time{}));
    lever_.end(back, {.status = 200}, begin_);
  }
  EXPECT_TRUE(lever_.next(begin_));
}

TEST_F(OrderLeverTest, ABurstCostsABestEffortQueueItsBudget) {
  EXPECT_EQ(ranks_of_burst(false), kueue::WriteBudget::kPerQueue);
}

// Without a rank, those that fit would wait behind the head while GPUs are free.
TEST_F(OrderLeverTest, NoBudgetLimitsAStrictQueue) {
  EXPECT_EQ(ranks_of_burst(true), 30);
  EXPECT_EQ(lever_.view().rests, "") << "a lever without a budget has a queue to order";
}

TEST_F(OrderLeverTest, OnlyInvalidChangesInARowMakeItPause) {
  const OrderLever::Next change = *lever_.next(begin_);
  const auto refuse = [&](int status) {
    ASSERT_TRUE(lever_.begin(change, Time{}));
    lever_.end(change, {.status = status, .message = "no"}, begin_);
  };
  for (int times = 0; times < 10; ++times) refuse(409);
  EXPECT_EQ(lever_.view().rests, "");
  for (int times = 0; times < 5; ++times) refuse(422);
  EXPECT_NE(lever_.view().rests, "");
}

TEST_F(OrderLeverTest, APauseBeginsWithTheAnswer) {
  const OrderLever::Next change = *lever_.next(begin_);
  ASSERT_TRUE(lever_.begin(change, Time{}));
  lever_.end(change, {.status = 503, .message = "busy"}, begin_ + 30s);
  EXPECT_FALSE(lever_.next(begin_ + 30s));
  EXPECT_TRUE(lever_.next(begin_ + 32s));
}

// A standby service that led once has an older rank in its journal than is on the workload.
TEST(OrderNumberTest, ANewerMarkReplacesTheClaim) {
  const Claim older{.field = Field::priority, .base = 100, .value = 103};
  kube::Workload workload{.uid = "u"};
  workload.mark = kube::Mark{.field = Field::priority, .base = 100, .value = 102};
  workload.priority = 102;
  EXPECT_EQ(number_of(workload, Field::priority, &older).base, 100);
  workload.priority = 103;
  EXPECT_EQ(number_of(workload, Field::priority, &older).base, 100) << "the claim counts";
  workload.priority = 50;
  EXPECT_EQ(number_of(workload, Field::priority, &older).base, 50) << "a person wrote it";

  const Claim older_boost{.field = Field::boost, .value = 3};
  workload.mark = kube::Mark{.field = Field::boost, .base = 0, .value = 2};
  workload.boost = 2;
  workload.has_boost_text = true;
  EXPECT_FALSE(number_of(workload, Field::boost, &older_boost).is_foreign);
  workload.boost = 1;
  EXPECT_TRUE(number_of(workload, Field::boost, &older_boost).is_foreign);
}

}  // namespace
}  // namespace almanac::steer_kube
