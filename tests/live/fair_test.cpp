// SPDX-License-Identifier: Apache-2.0

/// \file
/// What tenants and users used is known over restarts, to the policy and to those who ask.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/box.h"
#include "policy/registry.h"
#include "service/shadow.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

class Fair : public Box {
 protected:
  JobNumber submit_of(const std::string& user, const std::string& command,
                      const std::string& vc = "") {
    store::Submission asked = shell(command);
    asked.user = user;
    asked.vc = vc;
    return submit(asked);
  }
};

// Ann has used the GPU, bob has not: he is next, though she came before him.
TEST_F(Fair, AServiceThatBeginsAgainKnowsWhoHasUsedLeast) {
  begin("fair_share", 1);
  ASSERT_TRUE(comes_to(submit_of("ann", "sleep 0.3"), JobState::completed));
  end();
  begin("fair_share", 1);
  const JobNumber blocks = submit_of("carl", "while [ ! -e stop ]; do sleep 0.02; done");
  ASSERT_TRUE(comes_to(blocks, JobState::running));
  const JobNumber hers = submit_of("ann", "echo ann >> order");
  const JobNumber his = submit_of("bob", "echo bob >> order");
  EXPECT_TRUE(eventually([&] {
    return service_->job(his).value().place == 1 && service_->job(hers).value().place == 2;
  }));
  std::ofstream(folder_ / "work" / "stop") << '\n';
  ASSERT_TRUE(comes_to(hers, JobState::completed));
  ASSERT_TRUE(comes_to(his, JobState::completed));
  EXPECT_EQ(text("order"), "bob\nann\n");
}

// Ann has used the GPU for 1,000 s before the days that are played. Once Carl's job has ended, at
// 1,100 s, Bob's starts before hers, which came first: they wait for 80 s and 100 s.
TEST(ShadowTest, KnowsWhatWasUsedBeforeTheDaysThatItPlays) {
  experiment::Past past;
  const auto add = [&](const std::string& user, Duration submit, Duration start, Duration run) {
    trace::Job job;
    job.id = trace::JobKey{past.log.jobs.size()};
    job.request.submit = Time{submit};
    job.request.user = past.log.names.intern(user);
    job.request.gpus = 1;
    job.outcome.run = run;
    job.outcome.start = Time{start};
    job.outcome.end = Time{start + run};
    job.outcome.state = JobState::completed;
    past.log.jobs.push_back(job);
  };
  add("ann", 0s, 0s, 1'000s);
  add("carl", 1'000s, 1'000s, 100s);
  add("ann", 1'010s, 1'100s, 100s);
  add("bob", 1'020s, 1'200s, 10s);
  const auto compared = service::compare(std::move(past), Time{1'000s}, cluster::uniform(1, 1),
                                         *policy::registry().compose("fair_share"),
                                         *policy::registry().compose("fifo"), 0, nullptr);
  ASSERT_TRUE(compared) << to_string(compared.error());
  EXPECT_EQ(compared->played.avg_wait_s, 60);
  EXPECT_EQ(compared->other.avg_wait_s, 90);
}

// A replica holds the GPU for 1,000 s. Shortest remaining time first would stop it for the job of
// 10 s, were it a job as any other.
TEST(ShadowTest, LeavesAReplicaThatIsKeptWhatItHolds) {
  const auto played = [](std::unordered_set<trace::JobKey> kept) {
    experiment::Past past{.kept = std::move(kept)};
    const auto add = [&](Duration submit, Duration start, Duration run) {
      trace::Job job;
      job.id = trace::JobKey{past.log.jobs.size()};
      job.request.submit = Time{submit};
      job.request.gpus = 1;
      job.outcome.run = run;
      job.outcome.start = Time{start};
      job.outcome.end = Time{start + run};
      job.outcome.state = JobState::completed;
      past.log.jobs.push_back(job);
    };
    add(0s, 0s, 1'000s);
    add(10s, 1'000s, 10s);
    return service::compare(std::move(past), Time{0s}, cluster::uniform(1, 1),
                            *policy::registry().compose("srtf+oracle"),
                            *policy::registry().compose("fifo"), 0, nullptr);
  };
  const auto as_any = played({});
  ASSERT_TRUE(as_any) << to_string(as_any.error());
  EXPECT_EQ(as_any->played.preemptions, 1);
  const auto kept = played({trace::JobKey{0}});
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_EQ(kept->played.preemptions, 0);
  EXPECT_EQ(kept->played.avg_wait_s, kept->other.avg_wait_s);
}

// Jobs of one GPU come again and again, and pass a job of all four, for which there is never room.
TEST_F(Fair, NobodyStarvesBesideAnEndlessStream) {
  Config config{.state = state(), .machine = made_up(4), .policy = "fifo+scan", .futures = 0};
  config.age_cap = 2s;
  begin(config);
  store::Submission small = shell("sleep 0.5");
  small.time_limit = 1min;
  std::atomic<bool> is_over = false;
  for (int job = 0; job < 4; ++job) submit(small);
  store::Submission large = shell("true", 4);
  large.time_limit = 1h;
  const JobNumber starved = submit(large);
  std::thread stream([&] {
    while (!is_over) {
      static_cast<void>(service_->submit(small));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const auto said = service_->explain(starved, service::Eyes::owner);
  ASSERT_TRUE(said) << to_string(said.error());
  EXPECT_THAT(*said, testing::Contains(testing::HasSubstr(
                         "goes first once it has waited 00:00:02 (the age cap)")));
  EXPECT_TRUE(comes_to(starved, JobState::completed));
  is_over = true;
  stream.join();
}

// One of two GPUs is free, and kept for the job that has waited for longer than the cap.
TEST_F(Fair, ExplainSaysForWhomGpusAreKept) {
  Config config{.state = state(), .machine = made_up(2), .policy = "fifo+scan", .futures = 0};
  config.age_cap = 100ms;
  begin(config);
  const JobNumber runs = submit(shell("sleep 1000"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const JobNumber old = submit(shell("true", 2));
  ASSERT_TRUE(eventually([&] {
    return service_->explain(old, service::Eyes::owner)
               ->front()
               .find("has waited longer than the age cap") != std::string::npos;
  }));
  const JobNumber late = submit(shell("true"));
  ASSERT_TRUE(eventually([&] {
    return service_->explain(late, service::Eyes::owner)
               ->front()
               .find(fmt::format("GPUs are reserved for job {}", old)) != std::string::npos;
  })) << service_->explain(late, service::Eyes::owner)->front();
}

TEST_F(Fair, ExplainSaysHowTheTenantOfAJobFared) {
  Config config{.state = state(), .machine = made_up(4), .policy = "fair_share", .futures = 0};
  config.machine.cluster.tenants = {{.name = "vision", .guarantee = 3},
                                    {.name = "speech", .guarantee = 1}};
  begin(config);
  const JobNumber first = submit_of("ann", "sleep 0.2", "vision");
  ASSERT_TRUE(comes_to(first, JobState::completed));
  end();
  begin(config);
  const auto lines = service_->explain(first, service::Eyes::owner);
  ASSERT_TRUE(lines) << to_string(lines.error());
  // A busy machine may start it some milliseconds late.
  EXPECT_THAT(lines->back(),
              testing::MatchesRegex("tenant vision got ([0-9]+ % less than )?its fair "
                                    "share in the .*"));
  const auto tenancy = service_->tenancy();
  ASSERT_TRUE(tenancy) << to_string(tenancy.error());
  ASSERT_EQ(tenancy->tenants.size(), 2U);
  EXPECT_GT(tenancy->tenants[0].used_gpu_s, 0.19);
  EXPECT_GT(tenancy->tenants[0].use_gpu_s, 0.19);
  EXPECT_EQ(tenancy->tenants[1].use_gpu_s, 0);
  EXPECT_EQ(tenancy->half_life, 24h * 7);
  const JobNumber other = submit_of("bob", "true");
  ASSERT_TRUE(comes_to(other, JobState::completed));
  EXPECT_EQ(service_->explain(other, service::Eyes::owner)->back().find("tenant"),
            std::string::npos)
      << "it is of none";
}

// Vision may hold one of the two GPUs: its second job waits for the first, though a GPU is free.
TEST_F(Fair, ForeseesWhatTheLimitOfATenantLeaves) {
  Config config{.state = state(), .machine = made_up(2), .policy = "fifo", .futures = 16};
  config.machine.cluster.tenants = {{.name = "vision", .limit = 1}};
  begin(config);
  store::Submission asked = shell("sleep 1000");
  asked.vc = "vision";
  asked.time_limit = 1h;
  const JobNumber runs = submit(asked);
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const JobNumber waits = submit(asked);
  const auto expected = service_->expect(waits, 30s);
  ASSERT_TRUE(expected);
  EXPECT_GT(expected->start_from, look(waits).submit);
  std::optional<service::Expected> found;
  ASSERT_TRUE(eventually([&] {
    found = service_->foresee(asked).value_or(std::nullopt);
    return found.has_value();
  }));
  EXPECT_GT(found->start_from, found->at);
  asked.gpus = 2;
  ASSERT_TRUE(eventually([&] {
    found = service_->foresee(asked).value_or(std::nullopt);
    return found.has_value();
  }));
  EXPECT_EQ(found->start_from, kNever);
  for (const JobNumber job : {runs, waits}) ASSERT_TRUE(service_->cancel({job}, me_, false));
}

TEST_F(Fair, RefusesAJobBeyondTheLimitOfItsTenant) {
  Config config{.state = state(), .machine = made_up(2), .policy = "fifo", .futures = 0};
  config.machine.cluster.tenants = {{.name = "vision", .limit = 1}};
  begin(config);
  store::Submission asked = shell("true");
  asked.vc = "vision";
  asked.gpus = 2;
  const auto refused = service_->submit(asked);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "it can never run here: needs 2 GPUs, but the limit of its tenant (or of a tenant "
            "above) is 1");
  asked.vc = "";
  EXPECT_TRUE(comes_to(submit(asked), JobState::completed));
}

}  // namespace
}  // namespace almanac::machine
