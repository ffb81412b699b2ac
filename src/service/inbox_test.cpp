// SPDX-License-Identifier: Apache-2.0
#include "service/inbox.h"

#include <future>
#include <memory>

#include <gtest/gtest.h>

namespace almanac::service {
namespace {

class InboxTest : public testing::Test {
 protected:
  using Numbers = Inbox<std::unique_ptr<int>, int>;

  std::future<Result<int>> ask(int number) {
    return std::async(std::launch::async,
                      [this, number] { return inbox_.ask(std::make_unique<int>(number)); });
  }
  Numbers::Request take_one() {
    while (true) {
      if (auto taken = inbox_.take_one()) return *std::move(taken);
    }
  }

  process::Bell bell_;
  Numbers inbox_{bell_};
};

TEST_F(InboxTest, GivesEachItsOwnAnswer) {
  auto one = ask(1);
  auto first = take_one();
  auto two = ask(2);
  auto second = take_one();
  second.answer.set_value(20);
  first.answer.set_value(fail(Code::conflict, "no"));
  EXPECT_EQ(two.get().value(), 20);
  EXPECT_EQ(one.get().error().code, Code::conflict);
  EXPECT_FALSE(inbox_.take_one());
}

TEST_F(InboxTest, GivesBackWhatIsToBeTakenAgain) {
  auto one = ask(1);
  inbox_.put_back(take_one());
  auto all = inbox_.take_all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(*all.front().asked, 1);
  EXPECT_TRUE(inbox_.take_all().empty());
  all.front().answer.set_value(10);
  EXPECT_EQ(one.get().value(), 10);
}

TEST_F(InboxTest, TakesWhatNobodyWaitsFor) {
  inbox_.post(std::make_unique<int>(1));
  auto taken = take_one();
  EXPECT_EQ(*taken.asked, 1);
  taken.answer.set_value(10);
  inbox_.close();
  inbox_.post(std::make_unique<int>(2));
  EXPECT_FALSE(inbox_.take_one());
}

TEST_F(InboxTest, RefusesAllOnceItIsClosed) {
  auto one = ask(1);
  inbox_.put_back(take_one());
  inbox_.close();
  EXPECT_EQ(one.get().error().code, Code::unavailable);
  EXPECT_EQ(ask(2).get().error().message, "the service is shutting down");
}

}  // namespace
}  // namespace almanac::service
