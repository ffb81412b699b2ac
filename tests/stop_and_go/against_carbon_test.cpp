// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy stop_and_go beside the published decisions of `carbon`: where all days are alike, the
/// past one says of the next all that GAIA knows of it, and both run the same pieces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "formulas/waiting.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr int kDays = 8;
constexpr std::int64_t kStep_s = 5;

/// The values of a day, hour by hour, all different.
std::vector<double> random_day(Rng& random) {
  std::vector<double> made;
  for (int hour = 0; hour < 24; ++hour) made.push_back(100 + hour);
  for (std::size_t at = made.size(); at > 1; --at) {
    std::swap(made[at - 1], made[static_cast<std::size_t>(random.below(at))]);
  }
  return made;
}

TEST(StopAndGo, RunsThePiecesOfThePublishedThresholdWhereDaysAreAlike) {
  Rng random(31);
  std::size_t cut = 0;
  for (int round = 0; round < 5; ++round) {
    const std::vector<double> day = random_day(random);
    std::vector<double> hourly;
    Case input;
    input.cluster = cluster::uniform(40, 8);
    input.policy = "stop_and_go:0.3:86400:43200";
    input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    input.incidents.emplace();
    input.incidents->signals = {"carbon"};
    for (int hour = 0; hour < 24 * kDays; ++hour) {
      hourly.push_back(day[static_cast<std::size_t>(hour % 24)]);
      input.incidents->all.push_back({.at = Time{std::chrono::hours{hour}},
                                      .kind = cluster::Incident::Kind::signal,
                                      .subject = 0,
                                      .value = hourly.back()});
    }
    const carbon::Intensity intensity(hourly);
    // Signals are told from the first job on; the others come when a day has been heard.
    std::vector<carbon::Task> tasks{{.arrival = 0, .length = 1}};
    add_job(input.trace, {.id = "first", .gpus = 1, .run = kStep_s * 1s});
    carbon::Step arrival = 24 * carbon::kStepsAnHour;
    for (int job = 0; job < 100; ++job) {
      arrival += static_cast<carbon::Step>(random.below(2 * 24 * carbon::kStepsAnHour / 100));
      tasks.push_back(
          {.arrival = arrival,
           .length = 1 + static_cast<carbon::Step>(random.below(10 * carbon::kStepsAnHour)),
           .waiting = 12 * carbon::kStepsAnHour});
      add_job(input.trace, {.id = std::to_string(job),
                            .submit = std::chrono::seconds{arrival * kStep_s},
                            .gpus = 1,
                            .run = std::chrono::seconds{tasks.back().length * kStep_s}});
    }
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    std::vector<std::vector<carbon::Piece>> pieces(tasks.size());
    for (const auto& run : played->runs) {
      const auto steps = [](Time at) {
        return std::llround(seconds(at.time_since_epoch())) / kStep_s;
      };
      pieces[index(run.job)].push_back({steps(run.start), steps(run.end) - steps(run.start)});
    }
    for (std::size_t job = 1; job < tasks.size(); ++job) {
      const auto published = carbon::plan(intensity, carbon::WaitFor::below_threshold, tasks[job]);
      EXPECT_EQ(pieces[job], published) << "round " << round << ", job " << job;
      cut += published.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 100U) << "most jobs are to be stopped and go on";
}

}  // namespace
}  // namespace almanac
