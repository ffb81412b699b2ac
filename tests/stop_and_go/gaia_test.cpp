// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy gaia next to the published decisions, and next to every window of each job: if all
/// days are equal, the past one says of the next all that GAIA knows.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "formulas/purchase.h"
#include "formulas/waiting.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr int kWeekDays = 8;
constexpr std::int64_t kGaiaStep_s = 5;
constexpr carbon::Step kWaiting = 12 * carbon::kStepsAnHour;

struct Week {
  Case input;
  carbon::Intensity intensity;
  std::vector<carbon::Task> tasks;
};

/// Jobs with 12 hours of slack on a week of equal days.
Week week(std::uint64_t seed, const std::string& policy) {
  Rng random(seed);
  std::vector<double> day;
  for (int hour = 0; hour < 24; ++hour) {
    day.push_back(static_cast<double>(100 + random.below(400)));
  }
  std::vector<double> hourly;
  Case input;
  input.cluster = cluster::uniform(40, 8);
  input.policy = policy;
  input.incidents.emplace();
  input.incidents->signals = {"carbon"};
  for (int hour = 0; hour < 24 * kWeekDays; ++hour) {
    hourly.push_back(day[static_cast<std::size_t>(hour % 24)]);
    input.incidents->all.push_back({.at = Time{std::chrono::hours{hour}},
                                    .kind = cluster::Incident::Kind::signal,
                                    .subject = 0,
                                    .value = hourly.back()});
  }
  // Signals are heard from the first job on; the others come when a day has been heard.
  std::vector<carbon::Task> tasks{{.arrival = 0, .length = 1}};
  add_job(input.trace, {.id = "first", .gpus = 1, .run = kGaiaStep_s * 1s});
  carbon::Step arrival = 24 * carbon::kStepsAnHour;
  for (int job = 0; job < 100; ++job) {
    // No two come together: the published program breaks ties by the order in its heap.
    arrival += 1 + static_cast<carbon::Step>(random.below(2 * 24 * carbon::kStepsAnHour / 100));
    const auto length = 1 + static_cast<carbon::Step>(random.below(10 * carbon::kStepsAnHour));
    tasks.push_back({.arrival = arrival, .length = length, .usual = length, .waiting = kWaiting});
    add_job(input.trace, {.id = std::to_string(job),
                          .submit = std::chrono::seconds{arrival * kGaiaStep_s},
                          .gpus = 1,
                          .run = std::chrono::seconds{length * kGaiaStep_s}});
  }
  return {std::move(input), carbon::Intensity(hourly), std::move(tasks)};
}

carbon::Step start_of(const Played& played, std::size_t job) {
  return std::llround(seconds(played.result.jobs[job].start.time_since_epoch())) / kGaiaStep_s;
}

TEST(Gaia, StartsJobsAsPublishedWhereDaysAreEqual) {
  const std::pair<const char*, carbon::WaitFor> rules[] = {
      {"window", carbon::WaitFor::lowest_window}, {"saving", carbon::WaitFor::most_saved_a_time}};
  for (const auto& [name, rule] : rules) {
    std::size_t late = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Week made = week(seed, std::string("gaia:start=") + name + ":wait_s=43200+oracle");
      const Result<Played> played = play(made.input);
      ASSERT_TRUE(played) << to_string(played.error());
      for (std::size_t job = 1; job < made.tasks.size(); ++job) {
        const auto published = carbon::plan(made.intensity, rule, made.tasks[job]);
        ASSERT_EQ(published.size(), 1U);
        EXPECT_EQ(start_of(*played, job), published[0].start)
            << name << ", seed " << seed << ", job " << job;
        late += published[0].start > made.tasks[job].arrival ? 1 : 0;
      }
    }
    EXPECT_GT(late, 100U) << "most jobs wait";
  }
}

TEST(Gaia, AJobWithSlackGetsTheBestOfAllItsWindows) {
  const Week made = week(9, "gaia:wait_s=43200+oracle");
  const Result<Played> played = play(made.input);
  ASSERT_TRUE(played) << to_string(played.error());
  const auto carbon_from = [&](std::size_t job, carbon::Step start) {
    return made.intensity.sum(start, start + made.tasks[job].length);
  };
  for (std::size_t job = 1; job < made.tasks.size(); ++job) {
    double least = carbon_from(job, made.tasks[job].arrival);
    for (int hours = 1; hours <= 12; ++hours) {
      least =
          std::min(least, carbon_from(job, made.tasks[job].arrival + hours * carbon::kStepsAnHour));
    }
    EXPECT_DOUBLE_EQ(carbon_from(job, start_of(*played, job)), least) << "job " << job;
  }
}

/// The week with nine reserved GPUs next to more on-demand and spot GPUs than jobs can use.
Week week_of_contracts(std::uint64_t seed, const std::string& buys) {
  Week made = week(seed, "gaia:saving:wait_s=43200:buys=" + buys + "+oracle");
  made.input.cluster = {};
  made.input.cluster.add_vc("all");
  made.input.cluster.add_nodes({.gpus = 9, .gpu_type = "A100"}, 1);
  made.input.cluster.add_nodes({.gpus = 8, .gpu_type = "H100"}, 40);
  made.input.cluster.add_nodes({.gpus = 8, .gpu_type = "H100-spot"}, 40);
  made.input.incidents->signals.emplace_back("reserved/A100");
  Rng random(seed, 7);
  for (std::size_t job = 1; job < made.tasks.size(); ++job) {
    made.input.trace.jobs[job].request.gpus = static_cast<int>(1 + random.below(4));
  }
  return made;
}

/// Where the published program starts a job: earlier than planned if reserved cores are free.
/// Its cores serve again one step after a job has ended, here at once: it gets shorter jobs.
std::vector<carbon::BoughtPiece> published_pieces(const Week& made, bool buys_spot) {
  constexpr carbon::Step kShort = 2 * carbon::kStepsAnHour;
  std::vector<carbon::CoreJob> jobs;
  std::vector<carbon::Step> starts;
  for (std::size_t job = 0; job < made.tasks.size(); ++job) {
    carbon::Task task = made.tasks[job];
    const auto plan = carbon::plan(made.intensity, carbon::WaitFor::most_saved_a_time, task);
    starts.push_back(job == 0 ? task.arrival : plan.front().start);
    const bool on_spot = buys_spot && task.length <= kShort;
    task.length -= 1;
    jobs.push_back({task, made.input.trace.jobs[job].request.gpus, on_spot});
  }
  return carbon::buy(jobs, starts, {.reserved = 9, .early = true});
}

TEST(Gaia, ChoosesContractsAsPublishedWhereDaysAreEqual) {
  const std::pair<const char*, bool> ways[] = {{"reserved", false}, {"spot", true}};
  for (const auto& [buys, buys_spot] : ways) {
    std::map<std::string, std::size_t> jobs_on;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Week made = week_of_contracts(seed, buys);
      const Result<Played> played = play(made.input);
      ASSERT_TRUE(played) << to_string(played.error());
      std::map<std::size_t, std::string> type_of;
      for (const almanac::Run& run : played->runs) {
        const auto node = index(run.grants.front().node);
        const auto node_class = made.input.cluster.nodes[node].node_class;
        type_of[index(run.job)] = made.input.cluster.classes[node_class].gpu_type;
      }
      const auto published = published_pieces(made, buys_spot);
      for (const carbon::BoughtPiece& piece : published) {
        if (piece.job == 0) continue;
        const bool is_spot = buys_spot && made.tasks[piece.job].length <= 2 * carbon::kStepsAnHour;
        const std::string type = piece.usd == 0 ? "A100" : is_spot ? "H100-spot" : "H100";
        EXPECT_EQ(start_of(*played, piece.job), piece.piece.start)
            << buys << ", seed " << seed << ", job " << piece.job;
        EXPECT_EQ(type_of[piece.job], type) << buys << ", seed " << seed << ", job " << piece.job;
        ++jobs_on[type];
      }
    }
    EXPECT_EQ(jobs_on.size(), buys_spot ? 3U : 2U);
    for (const auto& [type, jobs] : jobs_on) EXPECT_GT(jobs, 20U) << type;
  }
}

}  // namespace
}  // namespace almanac
