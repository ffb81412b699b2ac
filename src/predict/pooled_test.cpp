// SPDX-License-Identifier: Apache-2.0
#include "predict/pooled.h"

#include <cmath>

#include <gtest/gtest.h>

#include "predict/replay.h"
#include "predict/testing_log.h"

namespace almanac::predict {
namespace {

class PooledTest : public testing::Test {
 protected:
  trace::Request request(std::string_view name, Duration limit = kNoDuration) {
    trace::Request made;
    made.gpus = 1;
    made.user = names_.intern("ann");
    made.name = names_.intern(name);
    made.time_limit = limit;
    return made;
  }
  void run(const trace::Request& request, Duration ran, int times) {
    for (int at = 0; at < times; ++at) {
      const JobId job{next_++};
      pooled_.estimate(job, request);
      pooled_.learn(job, request, {.ran = ran, .state = trace::JobState::completed});
    }
  }
  Pooled::Opinion ask(const trace::Request& request) {
    return pooled_.ask(JobId{next_++}, request);
  }
  double hours(const Distribution& said, double share) {
    return std::pow(10.0, said.quantile(share)) / 3600;
  }

  Names names_;
  Pooled pooled_{names_, Learned(names_)};
  std::uint32_t next_ = 0;
};

TEST_F(PooledTest, DoesNotTakeALongJobForATrivialOne) {
  run(request("true", 1min), 1s, 3);
  const Pooled::Opinion said = ask(request("train", 12h));
  EXPECT_NEAR(said.guessed, 0.5, 0.01);
  EXPECT_GT(hours(said.believed, 0.9), 4);
  EXPECT_GT(hours(said.believed, 0.95), 10);
  EXPECT_LT(hours(said.believed, 0.05), 0.1) << "it may fail at once";
}

TEST_F(PooledTest, DoesNotTakeALongJobForATrivialOneThatHasItsName) {
  run(request("python", 1min), 1s, 3);
  EXPECT_GT(hours(ask(request("python", 12h)).believed, 0.95), 10);
}

TEST_F(PooledTest, DoesNotTakeAJobWithoutALimitForATrivialOne) {
  run(request("true", 1min), 1s, 3);
  EXPECT_GT(hours(ask(request("train")).believed, 0.95), 24);
}

TEST_F(PooledTest, TrustsHistoryMoreAsJobsEndAsItSays) {
  run(request("train", 2h), 1h, 5);
  const double after_few = ask(request("train", 2h)).guessed;
  run(request("train", 2h), 1h, 100);
  const Pooled::Opinion said = ask(request("train", 2h));
  EXPECT_LT(said.guessed, after_few);
  EXPECT_LT(said.guessed, 0.1);
  EXPECT_NEAR(hours(said.believed, 0.5), 1, 0.1);
}

// 150 jobs are too few for a model. History earns the share that the guess loses; the learned voice
// keeps its quarter, so that guess and history share three quarters.
TEST_F(PooledTest, DoesNotWeighTheLearnedVoiceWithoutAModel) {
  for (int at = 0; at < 150; ++at) {
    const JobId job{next_++};
    pooled_.watch(job, request("train", 2h));
    pooled_.learn(job, request("train", 2h), {.ran = 1h, .state = trace::JobState::completed});
  }
  ASSERT_EQ(pooled_.learned().model(), nullptr);
  const Pooled::Opinion said = ask(request("train", 2h));
  EXPECT_LT(said.guessed, 0.2);
  EXPECT_NEAR(said.by_model, 0.25, 1e-9);
}

TEST_F(PooledTest, DoesNotLearnFromAJobThatItHasForgotten) {
  for (const bool forgets : {true, false}) {
    const JobId job{next_++};
    pooled_.ask(job, request("train"));
    if (forgets) pooled_.forget(job);
    pooled_.learn(job, request("train"), {.ran = 1h, .state = trace::JobState::completed});
    EXPECT_EQ(pooled_.learned().examples().ended(), forgets ? 0U : 1U);
  }
}

TEST_F(PooledTest, LetsNoJobOutliveItsLimit) {
  run(request("train"), 10h, 20);
  const Distribution said = ask(request("train", 1h)).believed;
  EXPECT_LE(hours(said, 1), 1.1);
  EXPECT_NEAR(said.total(), 1, 1e-5);
}

/// Of jobs of each size of history, the share that ended by the time that 90 % should end by.
TEST(Pooled, IsCalibratedHoweverLongTheHistoryOfTheUser) {
  const trace::Trace log = testing_log(4'000);
  Pooled pooled(log.names, Learned(log.names));
  std::unordered_map<NameId, int> ended;
  std::array<int, 3> jobs{};
  std::array<int, 3> in_time{};
  replay(
      log.jobs,
      [&](JobId job, const trace::Request& request) {
        const Distribution said = pooled.ask(job, request).believed;
        const int before = ended[request.user];
        const std::size_t of = before < 10 ? 0 : before < 100 ? 1 : 2;
        ++jobs[of];
        if (log_time(log.jobs[index(job)].outcome.run) <= said.quantile(0.9)) ++in_time[of];
      },
      [&](JobId job, const trace::Request& request, const Ended& how) {
        pooled.learn(job, request, how);
        ++ended[request.user];
      });
  for (std::size_t of = 0; of < jobs.size(); ++of) {
    ASSERT_GE(jobs[of], 100);
    EXPECT_GE(in_time[of], 0.86 * jobs[of]) << "class " << of << " of " << jobs[of];
  }
}

}  // namespace
}  // namespace almanac::predict
