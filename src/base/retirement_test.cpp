// SPDX-License-Identifier: Apache-2.0
#include "base/retirement.h"

#include <atomic>
#include <future>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace almanac {
namespace {

/// Ends when it is let.
struct Slow {
  std::shared_future<void> may_end;
  std::atomic<int>* ended;
  Slow(std::shared_future<void> may, std::atomic<int>& counts)
      : may_end(std::move(may)), ended(&counts) {}
  ~Slow() {
    may_end.wait();
    ++*ended;
  }
};

TEST(RetirementTest, NobodyWaitsButItsDestructor) {
  std::promise<void> let;
  const std::shared_future<void> may = let.get_future().share();
  std::atomic<int> ended = 0;
  {
    Retirement retirement;
    retirement.take(std::make_unique<Slow>(may, ended));
    retirement.take(std::make_unique<Slow>(may, ended));
    EXPECT_EQ(ended, 0);
    let.set_value();
  }
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace almanac
