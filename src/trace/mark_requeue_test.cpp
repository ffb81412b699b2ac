// SPDX-License-Identifier: Apache-2.0
#include "trace/mark_requeue.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::trace {
namespace {

std::vector<bool> marked(double fraction, std::uint64_t seed) {
  Trace trace;
  trace.jobs.resize(10'000);
  mark_requeue(trace, fraction, seed);
  std::vector<bool> made;
  for (const Job& job : trace.jobs) made.push_back(job.request.requeue == Requeue::yes);
  return made;
}

TEST(MarkRequeue, MarksThatPartAndMoreOfTheSameWithALargerOne) {
  const auto half = marked(0.5, 1);
  EXPECT_NEAR(static_cast<double>(std::count(half.begin(), half.end(), true)), 5'000, 200);
  EXPECT_EQ(marked(0.5, 1), half);
  EXPECT_NE(marked(0.5, 2), half);
  const auto most = marked(0.8, 1);
  for (std::size_t job = 0; job < half.size(); ++job) {
    EXPECT_TRUE(!half[job] || most[job]) << "job " << job;
  }
  const auto all = marked(1, 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), true), 10'000);
}

}  // namespace
}  // namespace almanac::trace
