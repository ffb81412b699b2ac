// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many replicas scalers want, worked out by hand.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/cold_start.h"
#include "inference/registry.h"
#include "inference/scaled.h"

namespace almanac::inference {
namespace {

std::unique_ptr<Scaler> made(const std::string& name, const ScalerCase& told) {
  auto scaler = make_scaler(name, told);
  EXPECT_TRUE(scaler) << to_string(scaler.error());
  return std::move(*scaler);
}

constexpr ScalerCase kCase{.least = 0, .most = 50, .replica_requests_per_s = 2, .cold_start = 60e6};

TEST(Mark, WantsTheRateOfTheMinuteThatFollowsTimesItsHeadroom) {
  const auto scaler = made("mark", kCase);
  // 10 a second: 1.2 * 10 / 2.
  EXPECT_EQ(scaler->want(0, {.arrived = 600}), 6);
  // 12 a second, so 14 in the minute in which a new replica is ready: 1.2 * 14 / 2.
  EXPECT_EQ(scaler->want(60e6, {.arrived = 600 + 720}), 9);
  // A rate that falls is followed down only to what it is now: 1.2 * 6 / 2.
  EXPECT_EQ(scaler->want(120e6, {.arrived = 600 + 720 + 360}), 4);
}

TEST(Mark, WorksOffWhatWaitsWithinAMinute) {
  const auto scaler = made("mark", kCase);
  EXPECT_EQ(scaler->want(0, {.waiting = 240, .arrived = 0}), 2);
}

TEST(Steady, WantsAllThereMayBe) { EXPECT_EQ(made("steady", kCase)->want(0, {}), 50); }

TEST(Reactive, GoesUpWithTheQueueAndComesDownAfterFiveMinutes) {
  const auto scaler = made("reactive", kCase);
  EXPECT_EQ(scaler->want(0, {.ready = 2, .waiting = 30, .running = 4}), 6);
  EXPECT_EQ(scaler->want(15e6, {.ready = 6, .waiting = 0, .running = 1}), 6);
  EXPECT_EQ(scaler->want(400e6, {.ready = 6, .waiting = 0, .running = 1}), 1);
}

TEST(Inferline, FollowsABurstUpAtOnceAndDownOnceAndNotToAndFro) {
  const auto scaler = made("inferline", kCase);
  std::int64_t arrived = 0;
  int replicas = 0;
  std::vector<std::pair<int, int>> changes;  // second, replicas from then on
  for (int second = 0; second < 120; ++second) {
    // 10 a second, but 40 in the seconds 6 to 10.
    if (second > 0) arrived += second > 5 && second <= 10 ? 40 : 10;
    const int wanted =
        scaler->want(second * 1e6, {.ready = replicas, .running = 1, .arrived = arrived});
    if (wanted != replicas) changes.emplace_back(second, wanted);
    replicas = wanted;
  }
  // Up by the last 5 s while the burst comes: 16, 22, 28, 34 and 40 a second. Down by the busiest 5
  // s of the last 30, and no sooner than 15 s after a change. The last minute holds 12.5 a second
  // when one is over, and 10 when the burst is out of it.
  const std::vector<std::pair<int, int>> expected{{5, 5},   {6, 8},   {7, 11}, {8, 14}, {9, 17},
                                                  {10, 20}, {36, 17}, {51, 5}, {60, 7}, {75, 5}};
  EXPECT_EQ(changes, expected);
}

TEST(Inferline, StartsAReplicaForAFirstRequestThatNoWindowHasYet) {
  const auto scaler = made("inferline", kCase);
  EXPECT_EQ(scaler->want(0, {.waiting = 1, .arrived = 1}), 1);
  EXPECT_EQ(scaler->want(1e6, {.starting = 1, .waiting = 1, .arrived = 1}), 1);
}

TEST(ColdStart, TakesTheWeightsFromWhereTheyAre) {
  // 16.06 GB of weights over 64 GB/s to a GPU take 0.25 s, and from a disk of 5 GB/s 3.2 s.
  Service service{.model = *find_model("llama-3.1-8b"), .board = *find_board("h100")};
  EXPECT_NEAR(cold_start(service, WeightTier::sleep).all(), 0.35e6, 0.01e6);
  EXPECT_NEAR(cold_start(service, WeightTier::memory).all(), 30.25e6, 0.01e6);
  EXPECT_NEAR(cold_start(service, WeightTier::disk).all(), 33.21e6, 0.01e6);
  // Four GPUs have a link each and one disk together.
  service.gpus = 4;
  EXPECT_NEAR(cold_start(service, WeightTier::sleep).weights, 0.063e6, 0.001e6);
  EXPECT_NEAR(cold_start(service, WeightTier::disk).weights, 3.21e6, 0.01e6);
  EXPECT_FALSE(weight_tier("tape"));
}

TEST(Quantile, AddsWhatForecastsWereOffByInNineOfTen) {
  const auto scaler = made("quantile", kCase);
  std::int64_t arrived = 0;
  Micros now = 0;
  const auto minute = [&](std::int64_t requests) {
    arrived += requests;
    return scaler->want(now += 60e6, {.arrived = arrived});
  };
  // Too young to know: half as much again as the 10 a second that come.
  EXPECT_EQ(minute(600), 8);
  for (int each = 0; each < 10; ++each) minute(600);
  // The forecast two minutes ahead was right ten times.
  EXPECT_EQ(minute(600), 5);
  // Once of eleven times it was off by 10 a second, which nine of ten leave out; then twice of
  // twelve: 9 a second on top of 20.
  EXPECT_EQ(minute(1200), 10);
  EXPECT_EQ(minute(1200), 15);
}

/// Each scaler that goes by rates has, at a steady rate, enough for it and not twice that.
class AtASteadyRate : public testing::TestWithParam<const char*> {};

TEST_P(AtASteadyRate, HasEnoughAndNotTwiceThat) {
  const auto scaler = made(GetParam(), kCase);
  Rng rng(5);
  constexpr double kRate = 20;
  double next = rng.exponential() / kRate;
  std::int64_t arrived = 0;
  int wanted = 0;
  for (Micros now = 0; now < 3600e6; now += scaler->period()) {
    for (; next <= now / 1e6; next += rng.exponential() / kRate) ++arrived;
    wanted = scaler->want(now, {.ready = wanted, .running = wanted, .arrived = arrived});
    if (now < 600e6) continue;
    ASSERT_GE(wanted * kCase.replica_requests_per_s, 0.9 * kRate) << now;
    ASSERT_LE(wanted * kCase.replica_requests_per_s, 2 * kRate) << now;
  }
}

TEST_P(AtASteadyRate, NeedsToKnowWhatAReplicaDoes) {
  EXPECT_FALSE(make_scaler(GetParam(), {.least = 1, .most = 4}));
}

INSTANTIATE_TEST_SUITE_P(All, AtASteadyRate, testing::Values("mark", "inferline", "quantile"));

}  // namespace
}  // namespace almanac::inference
