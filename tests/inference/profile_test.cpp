// SPDX-License-Identifier: Apache-2.0

/// \file
/// Profiles of servers, where it is known what the server is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/profile/held_out.h"
#include "inference/registry.h"
#include "inference/simulation.h"
#include "support/run_program.h"

namespace almanac::inference {
namespace {

using testing::HasSubstr;

/// A prefill of 10 ms and 0.02 ms a token, a decode of 12 ms.
FittedLines known() { return {.prefill = {10e3, 20, 0}, .decode = {12e3, 0, 0}}; }

/// What clients see of it: a token takes `slower` times as long for each more at once.
std::vector<Probe> probes(double slower = 0) {
  std::vector<Probe> made;
  for (const int prompt : {100, 400, 1600}) {
    for (const int together : {1, 4}) {
      const double each_ms = 12 * (1 + slower * (together - 1));
      made.push_back({.prompt = prompt,
                      .output = 16,
                      .together = together,
                      .first_token_ms = 10 + 0.02 * prompt,
                      .per_token_ms = each_ms,
                      .decoding = together,
                      .mean_gap_ms = each_ms,
                      .median_gap_ms = each_ms});
    }
  }
  return made;
}

/// 100 requests at random to a server of `lines`.
MixedLoad load_of(const FittedLines& lines) {
  MixedLoad made;
  Rng rng(7);
  Micros at = 0;
  for (int each = 0; each < 100; ++each) {
    at += 50e3 * rng.exponential();
    made.requests.all.push_back({.arrival = at,
                                 .prompt = 200 + static_cast<std::int32_t>(rng.below(600)),
                                 .output = 8 + static_cast<std::int32_t>(rng.below(9))});
  }
  const Fitted step(lines.prefill, lines.decode, lines.decode, 1, 0, lines.one_step);
  Simulation simulation(made.requests);
  simulation.add({.sequences = lines.slots > 0 ? lines.slots : 256, .kv_blocks = 100'000}, step,
                 registry().formers.find("chunked")->make());
  const auto router = registry().routers.find("round_robin")->make(1);
  simulation.run(*router);
  made.outcomes = simulation.outcomes();
  return made;
}

TEST(Profile, ThatIsTheServersHoldsForRequestsThatWereHeldOut) {
  for (const bool shared : {false, true}) {
    FittedLines lines = known();
    lines.one_step = shared;
    EXPECT_EQ(one_step(known(), load_of(lines)), shared);
    const Tested tested = test(lines, probes(), load_of(lines));
    EXPECT_EQ(tested.warning, "");
    ASSERT_EQ(tested.figures.size(), 6);
    for (const Tested::Figure& each : tested.figures) EXPECT_NEAR(each.off(), 0, 1e-9) << each.name;
  }
}

TEST(Profile, ThatBatchesDoesNotDescribeAServerThatAnswersOneAtATime) {
  FittedLines alone = known();
  alone.slots = 1;
  const MixedLoad load = load_of(alone);
  EXPECT_EQ(test(alone, probes(), load).warning, "");
  EXPECT_THAT(test(known(), probes(), load).warning, HasSubstr("TTFT mean"));
}

TEST(Profile, OfAnotherServerSaysHowFarItIsOffAndOnlyWhatWasMeasuredOfWhy) {
  FittedLines slower = known();
  slower.decode.iteration *= 2;
  const MixedLoad load = load_of(slower);
  const Tested tested = test(known(), probes(), load);
  EXPECT_THAT(tested.warning,
              HasSubstr("does not describe its server: of 100 held-out requests, "));
  EXPECT_THAT(tested.warning, HasSubstr("TPOT mean"));
  EXPECT_THAT(tested.warning, HasSubstr("the measurements do not show why"));
  // Four at once take 3.4 times as long as one.
  EXPECT_THAT(test(known(), probes(0.8), load).warning, HasSubstr("the server does not batch"));
  std::vector<Probe> uneven = probes();
  for (Probe& each : uneven) each.median_gap_ms = each.mean_gap_ms / 2;
  EXPECT_THAT(test(known(), uneven, load).warning, HasSubstr("its steps vary"));
  MixedLoad pauses = load;
  for (Outcome& each : pauses.outcomes) each.longest_gap *= 5;
  EXPECT_THAT(test(known(), probes(), pauses).warning, HasSubstr("answers pause"));
}

TEST(Profile, KnowsHowManyRequestsAServerAnswersAtATime) {
  EXPECT_EQ(fit(probes())->slots, 0);
  std::vector<Probe> two = probes();
  for (Probe& each : two) each.decoding = std::min(each.decoding, 2);
  EXPECT_EQ(fit(two)->slots, 2);
  // That fewer met once, for one came late, is no bound.
  std::vector<Probe> late = probes();
  late.back().decoding = 3;
  EXPECT_EQ(fit(late)->slots, 0);
}

TEST(Profile, IsReadAsItWasWrittenAndAnOldOneWasNeverTested) {
  TemporaryFolder folder;
  FittedLines lines = known();
  lines.one_step = true;
  lines.slots = 3;
  const auto read =
      read_measured(folder.write("server.csv", to_csv(lines, "org/model", 2, "is off, by much")));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->slots, 3);
  EXPECT_EQ(read->warning, "is off, by much");
  const Batch mixed{.prefills = {{.fresh = 100, .prompt = 100}}, .decodes = 2, .context = 50};
  EXPECT_DOUBLE_EQ(read->step(mixed), 12e3 + 20 * 100);
  const auto old = read_measured(
      folder.write("old.csv",
                   "engine,model,tp,phase,intercept_ms,per_token_ms,third,stage_ms\n"
                   "measured,m,1,prefill,10,0.02,0,0\nmeasured,m,1,decode_lt95,12,0,0,0\n"
                   "measured,m,1,decode_ge95,12,0,0,0\n"));
  ASSERT_TRUE(old) << to_string(old.error());
  EXPECT_THAT(old->warning, HasSubstr("never validated"));
  EXPECT_DOUBLE_EQ(old->step(mixed), 12e3 + 10e3 + 20 * 100);
}

}  // namespace
}  // namespace almanac::inference
