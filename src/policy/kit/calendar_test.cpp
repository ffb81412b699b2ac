// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/calendar.h"

#include <gtest/gtest.h>

#include "policy/registry.h"
#include "trace/trace.h"

namespace almanac::policy {
namespace {

/// Knows run times, and has reservations count with twice as much.
class Cautious final : public predict::Estimator {
 public:
  explicit Cautious(const std::vector<trace::Job>& jobs) : jobs_(jobs) {}
  predict::Belief estimate(JobId job, const trace::Request&) override {
    const Duration run = jobs_[index(job)].outcome.run;
    return {.run = run, .bound = 2 * run};
  }

 private:
  const std::vector<trace::Job>& jobs_;
};

/// A desk with jobs that run and jobs that wait, at time 0 on two nodes of four GPUs.
class CalendarTest : public testing::Test {
 protected:
  CalendarTest()
      : cluster_(cluster::uniform(2, 4)),
        ledger_(cluster_),
        plan_(ledger_, view_),
        desk_(registry().orders.make("fifo"), registry().placements.make("consolidate", {}),
              nullptr, nullptr, predict::make_oracle(kAllJobs)),
        calendar_(desk_, cluster_.vcs[0]) {
    vc_.vc = VcId{0};
    desk_.serve({.running = RunningRank::believed_end, .run_times = true});
    demands_.reserve(kMostGpus + 1);
    for (int gpus = 0; gpus <= kMostGpus; ++gpus) demands_.push_back({.gpus = gpus});
  }

  /// The jobs of the test: GPUs and run time of each.
  void jobs(const std::vector<std::pair<int, Duration>>& asked) {
    for (const auto& [gpus, run] : asked) {
      trace::Job job;
      job.request.gpus = gpus;
      job.outcome.run = run;
      jobs_.push_back(job);
      progress_.push_back({.vc = VcId{0},
                           .demand = DemandId{static_cast<std::uint32_t>(gpus)},
                           .phase = Phase::waiting});
    }
    believe(predict::make_oracle(jobs_));
  }

  /// Asks `estimator` about the jobs of the test, all of which wait.
  void believe(std::unique_ptr<predict::Estimator> estimator) {
    desk_ = Desk(registry().orders.make("fifo"), registry().placements.make("consolidate", {}),
                 nullptr, nullptr, std::move(estimator));
    vc_ = {.vc = VcId{0}};
    desk_.serve({.running = RunningRank::believed_end, .run_times = true});
    desk_.open(view_, plan_);
    for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
      desk_.beliefs().believe(JobId{job}, view_);
      desk_.enqueue(vc_, JobId{job});
    }
  }

  void start(std::uint32_t job) {
    const auto grants = desk_.place(VcId{0}, demands_[index(progress_[job].demand)]);
    ASSERT_FALSE(grants.empty());
    desk_.start(vc_, JobId{job}, grants);
  }

  /// When a job is promised to start, in seconds; nothing = never.
  std::optional<double> promised(std::uint32_t job) {
    const Calendar::Promise* const made = calendar_.promise(vc_, JobId{job});
    if (made == nullptr) return std::nullopt;
    return seconds(made->start);
  }

  static constexpr int kMostGpus = 16;
  static inline const std::vector<trace::Job> kAllJobs{};

  cluster::Cluster cluster_;
  cluster::Ledger ledger_;
  std::vector<trace::Job> jobs_;
  std::vector<Progress> progress_;
  std::vector<cluster::Demand> demands_;
  std::vector<cluster::Grant> grants_;
  Rng rng_{0};
  View view_{cluster_, rng_, {jobs_, progress_, demands_, grants_}};
  Plan plan_;
  Desk desk_;
  Calendar calendar_;
  VcState vc_;
};

TEST_F(CalendarTest, PromisesTheTimeAtWhichEnoughComesFree) {
  jobs({{4, 10s}, {4, 20s}, {8, 5s}, {4, 5s}});
  start(0);
  start(1);
  EXPECT_EQ(promised(2), 20) << "both nodes are free when the longer job ends";
  EXPECT_EQ(promised(3), 10) << "one node is free until then";
}

TEST_F(CalendarTest, CountsWithTheBoundOfAJobWhereTheOrderSeesItsRunTime) {
  jobs({{4, 10s}, {4, 12s}, {8, 5s}, {4, 11s}});
  believe(std::make_unique<Cautious>(jobs_));
  EXPECT_EQ(desk_.candidate(JobId{0}).believed, 10s);
  EXPECT_EQ(desk_.remaining(JobId{0}), 20s);
  start(0);
  start(1);
  EXPECT_EQ(promised(2), 24);
  EXPECT_EQ(promised(3), 34) << "it may need 20 s .. 42 s, so it runs after the promise";
}

TEST_F(CalendarTest, DelaysNoEarlierPromise) {
  jobs({{4, 10s}, {4, 20s}, {8, 5s}, {4, 11s}});
  start(0);
  start(1);
  EXPECT_EQ(promised(2), 20);
  EXPECT_EQ(promised(3), 25) << "it would need 10 s .. 21 s, so it runs after the promise";
}

TEST_F(CalendarTest, ReturnsAStartAtOnceButDoesNotKeepIt) {
  jobs({{4, 10s}});
  EXPECT_EQ(promised(0), 0);
  EXPECT_FALSE(calendar_.holds(JobId{0}));
  EXPECT_EQ(ledger_.free_gpus(VcId{0}), 8) << "a what-if leaves nothing in the ledger";
}

TEST_F(CalendarTest, AnswersNeverWhenNothingWillBeEnough) {
  jobs({{4, 10s}, {9, 10s}});
  start(0);
  EXPECT_EQ(promised(1), std::nullopt);
  EXPECT_EQ(ledger_.free_gpus(VcId{0}), 4);
}

TEST_F(CalendarTest, KnowsWhomGpusTakenNowWouldDelay) {
  jobs({{4, 10s}, {8, 5s}});
  start(0);
  EXPECT_EQ(promised(1), 10);
  const cluster::Grant node1{.node = NodeId{1}, .gpus = 0b1};
  EXPECT_EQ(calendar_.first_delayed({&node1, 1}, Time{10s}), kNoJob) << "given back in time";
  EXPECT_EQ(calendar_.first_delayed({&node1, 1}, Time{11s}), JobId{1});
}

TEST_F(CalendarTest, PlacesOnTheGpusThatPromisesLeave) {
  jobs({{3, 10s}, {4, 20s}, {3, 5s}, {1, 100s}, {1, 100s}});
  start(0);
  start(1);
  EXPECT_EQ(promised(2), 10) << "three of the four GPUs of node 0";
  ASSERT_FALSE(calendar_.place_now(VcId{0}, demands_[1], 100s).empty()) << "the fourth";
  EXPECT_TRUE(calendar_.place_now(VcId{0}, demands_[1], 100s).empty());
}

TEST_F(CalendarTest, CountsWhatIsFreeBesideTheFirstPromise) {
  jobs({{3, 10s}, {4, 20s}, {3, 5s}});
  start(0);
  start(1);
  EXPECT_EQ(promised(2), 10) << "three of the four GPUs of node 0";
  EXPECT_EQ(calendar_.free_beside_first(VcId{0}), 1) << "the fourth is free and is not promised";
}

TEST_F(CalendarTest, NoticesPromisesThatAnOverrunBreaks) {
  jobs({{4, 10s}, {8, 5s}});
  start(0);
  EXPECT_EQ(promised(1), 10);
  EXPECT_TRUE(calendar_.broken().empty());
  calendar_.occupy(desk_.grants(JobId{0}), Time{10s}, Time{20s}, +1);
  EXPECT_EQ(calendar_.broken(), std::vector<JobId>{JobId{1}});
  calendar_.forget(JobId{1});
  EXPECT_TRUE(calendar_.empty());
}

TEST_F(CalendarTest, TellsWhichPromisesAreDue) {
  jobs({{4, 10s}, {4, 20s}, {8, 5s}, {4, 5s}});
  start(0);
  start(1);
  EXPECT_EQ(promised(2), 20);
  EXPECT_EQ(promised(3), 10);
  EXPECT_EQ(calendar_.first(), JobId{3});
  EXPECT_EQ(calendar_.due(Time{9s}), std::vector<JobId>{});
  EXPECT_EQ(calendar_.due(Time{20s}), (std::vector<JobId>{JobId{3}, JobId{2}}));
}

}  // namespace
}  // namespace almanac::policy
