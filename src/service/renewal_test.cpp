// SPDX-License-Identifier: Apache-2.0
#include "service/renewal.h"

#include <future>
#include <memory>

#include <gtest/gtest.h>

namespace almanac::service {
namespace {

class RenewalTest : public testing::Test {
 protected:
  Renewal<int>::Done wait() {
    while (true) {
      if (auto done = renewal_.take()) return *std::move(done);
    }
  }

  process::Bell bell_;
  Renewal<int> renewal_{bell_};
};

TEST_F(RenewalTest, GivesWhatItMadeOnce) {
  EXPECT_FALSE(renewal_.take());
  ASSERT_TRUE(renewal_.begin([] { return Result<int>(2); }, true));
  EXPECT_TRUE(renewal_.is_under_way());
  const auto done = wait();
  EXPECT_EQ(done.made.value(), 2);
  EXPECT_TRUE(done.is_told);
  EXPECT_FALSE(done.is_stale);
  EXPECT_FALSE(renewal_.is_under_way());
  EXPECT_FALSE(renewal_.take());
}

TEST_F(RenewalTest, SaysWhyNothingWasMade) {
  renewal_.begin([]() -> Result<int> { return fail(Code::unavailable, "no store"); }, false);
  EXPECT_EQ(wait().made.error().message, "no store");
}

TEST_F(RenewalTest, IsStaleWhereAnotherHasTakenOver) {
  std::promise<void> go;
  renewal_.begin(
      [made = go.get_future().share()] {
        made.wait();
        return Result<int>(2);
      },
      false);
  renewal_.supersede();
  go.set_value();
  EXPECT_TRUE(wait().is_stale);
}

TEST_F(RenewalTest, BeginsNoneBeforeItsTime) {
  constexpr Time kNoon{12h};
  EXPECT_TRUE(renewal_.may_begin(kNoon));
  renewal_.put_off(kNoon + 1min);
  EXPECT_FALSE(renewal_.may_begin(kNoon));
  EXPECT_TRUE(renewal_.may_begin(kNoon + 1min));
  renewal_.begin([] { return Result<int>(2); }, false);
  EXPECT_FALSE(renewal_.may_begin(kNoon + 1h)) << "one is under way";
  wait();
}

}  // namespace
}  // namespace almanac::service
