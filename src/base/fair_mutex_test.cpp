// SPDX-License-Identifier: Apache-2.0
#include "base/fair_mutex.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace almanac {
namespace {

TEST(FairMutex, IsHeldByOneAtATime) {
  FairMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int each = 0; each < 4; ++each) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5000; ++turn) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(count, 20'000);
}

TEST(FairMutex, LetsInWhoWaitsThoughAnotherTakesItAgainAtOnce) {
  constexpr int kRounds = 40;
  int let_in = 0;
  for (int round = 0; round < kRounds; ++round) {
    FairMutex mutex;
    std::atomic<bool> asks = false;
    std::atomic<bool> is_in = false;
    mutex.lock();
    std::thread waits([&] {
      asks = true;
      const std::lock_guard lock(mutex);
      is_in = true;
    });
    while (!asks) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    mutex.unlock();
    mutex.lock();
    let_in += is_in ? 1 : 0;
    mutex.unlock();
    waits.join();
  }
  // A thread may be stopped between its two steps, if seldom.
  EXPECT_GE(let_in, kRounds - 4);
}

}  // namespace
}  // namespace almanac
