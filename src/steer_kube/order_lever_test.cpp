// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/order_lever.h"

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

}  // namespace
}  // namespace almanac::steer_kube
