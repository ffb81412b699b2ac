// SPDX-License-Identifier: Apache-2.0
#include "base/step_back.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace almanac {
namespace {

TEST(StepBack, IsUndoneForAllThreadsOfAProcessThatEnds) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may";
  // 0 = the calling thread.
  const auto niceness = [] { return ::getpriority(PRIO_PROCESS, 0); };
  const int usual = niceness();
  std::promise<int> back;
  std::promise<void> go_on;
  std::promise<int> forward;
  std::thread thread([&] {
    step_back();
    back.set_value(niceness());
    go_on.get_future().wait();
    forward.set_value(niceness());
  });
  EXPECT_GT(back.get_future().get(), usual);
  EXPECT_EQ(niceness(), usual);
  step_forward();
  go_on.set_value();
  EXPECT_EQ(forward.get_future().get(), usual);
  thread.join();
}

}  // namespace
}  // namespace almanac
