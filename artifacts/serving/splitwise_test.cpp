// SPDX-License-Identifier: Apache-2.0
#include "serving/splitwise.h"

#include <vector>

#include <gtest/gtest.h>

namespace almanac::serving {

using namespace inference;
namespace {

// Requests arrive in pairs, and 300 of them need more KV memory than the two token servers have, so
// transfers are retried, many at the same time. The order of simultaneous events then depends on
// how the program rounds times. Expected: a second implementation of splitwise-sim in Python, which
// equals each of the published runs to their last digit.
TEST(Splitwise, OrdersSimultaneousEventsAsThePublishedProgram) {
  std::vector<SplitwiseRequest> requests;
  for (int each = 0; each < 300; ++each) {
    requests.push_back({.arrival = 1 + 25'000 * (each / 2) / 1e6,
                        .prompt = 640 + 128 * (each % 7),
                        .output = 200 + 16 * (each % 5)});
  }
  const TokenTable times({{128, 0.08, 0.05}, {2048, 0.6, 0.09}});
  const SplitwiseSetup setup{.servers = {{&times, SplitwisePool::prompts},
                                         {&times, SplitwisePool::prompts},
                                         {&times, SplitwisePool::tokens},
                                         {&times, SplitwisePool::tokens}},
                             .model = {.weights = 329e9, .layers = 70, .hidden = 14'336},
                             .scheduler = SplitwiseScheduler::kv_jsq};
  double starts = 0;
  double ends = 0;
  for (const SplitwiseTimes& each : play_splitwise(requests, setup)) {
    starts += each.token_start;
    ends += each.finish;
  }
  EXPECT_NEAR(starts, 7517.653346354, 1e-8);
  EXPECT_NEAR(ends, 10885.451138021, 1e-8);
}

}  // namespace
}  // namespace almanac::serving
