// SPDX-License-Identifier: Apache-2.0
#include "predict/replay.h"

#include <string>

#include <gtest/gtest.h>

namespace almanac::predict {
namespace {

/// "+0 +1 -0": submissions and ends as they are told.
std::string told(const std::vector<trace::Job>& jobs, Time until = kNever) {
  std::string text;
  replay(
      jobs, [&](JobId job, const trace::Request&) { text += " +" + std::to_string(index(job)); },
      [&](JobId job, const trace::Request&, const Ended&) {
        text += " -" + std::to_string(index(job));
      },
      until);
  return text;
}

trace::Job job(Duration submit, Duration run, int gpus = 1) {
  trace::Job made;
  made.request.submit = Time(submit);
  made.request.gpus = gpus;
  made.outcome.run = run;
  return made;
}

TEST(Replay, TellsInOrderOfTime) {
  EXPECT_EQ(told({job(0s, 100s), job(10s, 20s), job(40s, 10s)}), " +0 +1 -1 +2 -2 -0");
}

TEST(Replay, LetsNobodyKnowWhatEndsInTheSameInstant) {
  EXPECT_EQ(told({job(0s, 10s), job(10s, 5s), job(10s, 0s)}), " +0 +1 +2 -0 -2 -1");
}

TEST(Replay, LeavesOutWhatAsksNoGpu) {
  EXPECT_EQ(told({job(0s, 1s), job(1s, 1s, 0), job(5s, 1s)}), " +0 -0 +2 -2");
}

TEST(Replay, StopsInTime) {
  EXPECT_EQ(told({job(0s, 100s), job(10s, 20s), job(40s, 10s)}, Time(40s)), " +0 +1 -1");
}

TEST(Replay, GoesByTheRecordedEndFirst) {
  trace::Job waited = job(0s, 10s);
  waited.outcome.start = Time(50s);
  EXPECT_EQ(known_at(waited), Time(60s));
  waited.outcome.end = Time(61s);
  EXPECT_EQ(known_at(waited), Time(61s));
}

}  // namespace
}  // namespace almanac::predict
