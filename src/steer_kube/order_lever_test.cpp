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
