// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/order_journal.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::steer_kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OrderJournalTest : public testing::Test {
 protected:
  OrderJournal open() const { return OrderJournal::open(path_).value(); }
  static Change change(std::int64_t was, std::int64_t becomes) {
    return {
        .uid = "u", .name_space = "a", .name = "job", .base = 5, .was = was, .becomes = becomes};
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "order.jsonl";
};

TEST_F(OrderJournalTest, RemembersWhatItWrote) {
  {
    OrderJournal journal = open();
    ASSERT_TRUE(journal.begin(change(5, 8), Time{}));
    ASSERT_TRUE(journal.end(""));
  }
  const OrderJournal journal = open();
  const Claim& claim = journal.claims().at("u");
  EXPECT_EQ(claim.base, 5);
  EXPECT_TRUE(claim.is_ours(8));
  EXPECT_FALSE(claim.is_ours(5)) << "Kueue wrote its class again";
}

TEST_F(OrderJournalTest, AfterACrashBothNumbersMayBeThere) {
  ASSERT_TRUE(open().begin(change(5, 8), Time{}));
  const OrderJournal journal = open();
  EXPECT_TRUE(journal.claims().at("u").is_ours(8));
  EXPECT_TRUE(journal.claims().at("u").is_ours(5));
  EXPECT_FALSE(journal.claims().at("u").is_ours(6));
}

TEST_F(OrderJournalTest, ARefusedChangeLeavesTheFormerNumber) {
  OrderJournal journal = open();
  ASSERT_TRUE(journal.begin(change(5, 6), Time{}));
  ASSERT_TRUE(journal.end(""));
  ASSERT_TRUE(journal.begin(change(6, 8), Time{}));
  ASSERT_TRUE(journal.end("409 Conflict"));
  EXPECT_TRUE(journal.claims().at("u").is_ours(6));
  EXPECT_FALSE(open().claims().at("u").is_ours(8));
  ASSERT_TRUE(journal.begin(change(6, 5), Time{}));
  ASSERT_TRUE(journal.end(""));
  EXPECT_THAT(journal.claims(), IsEmpty()) << "it is as it was before Almanac";
  EXPECT_THAT(open().claims(), IsEmpty());
}

TEST_F(OrderJournalTest, RemembersWhatAnotherWrote) {
  OrderJournal journal = open();
  ASSERT_TRUE(journal.begin(change(5, 6), Time{}));
  ASSERT_TRUE(journal.end(""));
  ASSERT_TRUE(journal.drop("u", "written by another", true));
  EXPECT_THAT(open().claims(), IsEmpty());
  EXPECT_THAT(open().foreign(), ElementsAre("u"));
  ASSERT_TRUE(journal.drop("u", "deleted", false));
  EXPECT_THAT(open().foreign(), IsEmpty());
}

TEST_F(OrderJournalTest, IsOfOneCluster) {
  ASSERT_TRUE(open().bind("one"));
  OrderJournal journal = open();
  EXPECT_TRUE(journal.bind("one"));
  EXPECT_EQ(journal.bind("two").error().code, Code::conflict);
}

TEST_F(OrderJournalTest, ALineThatACrashCutOffCountsForNothing) {
  ASSERT_TRUE(open().begin(change(5, 8), Time{}));
  std::ofstream(path_, std::ios::app) << "{\"n\":2,\"uid\":\"v\",";
  EXPECT_EQ(open().claims().size(), 1U);
}

TEST_F(OrderJournalTest, AnotherFileIsRefused) {
  std::ofstream(path_) << "jobs\n";
  const auto opened = OrderJournal::open(path_);
  EXPECT_EQ(opened.error().code, Code::corrupt);
  EXPECT_EQ(opened.error().where.line, 1);
}

}  // namespace
}  // namespace almanac::steer_kube
