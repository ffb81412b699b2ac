// SPDX-License-Identifier: Apache-2.0
#include "schedule/round.h"

#include <functional>

#include <gtest/gtest.h>

#include "base/check.h"

namespace almanac::schedule {
namespace {

using policy::Event;
using policy::EventKind;

/// Plans what a test says.
class Scripted final : public policy::Policy {
 public:
  void decide(std::span<const Event>, const policy::View& view, policy::Plan& plan) override {
    script(view, plan);
  }
  policy::Reason why_waiting(JobId, const policy::View&, cluster::Ledger&) const override {
    return {};
  }
  void line_up(std::vector<JobId>&) const override {}

  std::function<void(const policy::View&, policy::Plan&)> script = [](const auto&, auto&) {};
};

class Idle final : public Actuator {
 public:
  void start(JobId) override {}
  void stop(JobId) override {}
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}
};

class RoundTest : public testing::Test {
 protected:
  /// A job of one GPU that may have up to so many.
  void add_job(int max_gpus) {
    trace::Job job;
    job.request.gpus = 1;
    job.request.max_gpus = max_gpus;
    trace_.jobs.push_back(job);
  }

  cluster::Cluster cluster_ = cluster::uniform(4, 1);
  trace::Trace trace_;
  Scripted policy_;
  Idle idle_;
};

/// Counts what services are asked to have.
class Serves final : public Actuator {
 public:
  void start(JobId) override {}
  void stop(JobId) override {}
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}
  void scale(policy::ServiceId service, int replicas) override {
    asked.emplace_back(index(service), replicas);
  }
  std::vector<std::pair<std::size_t, int>> asked;
};

TEST_F(RoundTest, TellsTheHostHowManyReplicasAServiceIsToHave) {
  Serves host;
  Round round(cluster_, trace_, policy_, host, {}, 0, "scales");
  std::vector<policy::Service> services = {{.name = "chat", .least = 1, .most = 4, .load = {}},
                                           {.name = "code", .least = 0, .most = 2, .load = {}}};
  round.show(services);
  policy_.script = [](const policy::View& view, policy::Plan& plan) {
    ASSERT_EQ(view.services.size(), 2u);
    if (view.services[1].load.waiting > 0) plan.scale(policy::ServiceId{1}, 2);
  };
  round.run(Time{}, {});
  EXPECT_TRUE(host.asked.empty());
  services[1].load.waiting = 3;
  round.run(Time{1s}, {});
  round.run(Time{2s}, {});
  EXPECT_EQ(host.asked, (std::vector<std::pair<std::size_t, int>>{{1, 2}, {1, 2}}));
}

TEST_F(RoundTest, RefusesToScaleAServiceThatThereIsNot) {
  Serves host;
  Round round(cluster_, trace_, policy_, host, {}, 0, "scales");
  policy_.script = [](const policy::View&, policy::Plan& plan) {
    plan.scale(policy::ServiceId{0}, 1);
  };
  EXPECT_DEATH(round.run(Time{}, {}), "service 0 of 0 cannot have 1 replicas");
}

TEST_F(RoundTest, EndsWhatNeverLetsTimeGoOn) {
  add_job(0);
  Round round(cluster_, trace_, policy_, idle_, {}, 0, "restless");
  policy_.script = [](const policy::View& view, policy::Plan& plan) { plan.wake(view.now); };
  const auto wait_for_peace = [&] {
    for (Time now{};;) {
      const Event timer{EventKind::timer};
      round.run(now, {&timer, 1});
      for (const Time wake : round.wakes()) now = std::max(now, wake);
    }
  };
  EXPECT_DEATH(wait_for_peace(), "policy restless asked 10000 times at 0 s to be woken");
}

TEST_F(RoundTest, HasPatienceWithJobsThatComeAndGoInAnInstant) {
  constexpr std::uint32_t kJobs = 20'000;
  for (std::uint32_t job = 0; job < kJobs; ++job) add_job(0);
  Round round(cluster_, trace_, policy_, idle_, {}, 0, "busy");
  policy_.script = [](const policy::View& view, policy::Plan& plan) { plan.wake(view.now); };
  for (std::uint32_t job = 0; job < kJobs; ++job) {
    ASSERT_FALSE(round.admit(JobId{job}));
    const Event arrival{EventKind::job_arrived, job};
    round.run(Time{}, {&arrival, 1});
  }
  EXPECT_EQ(round.load().jobs_waiting, kJobs);
}

TEST_F(RoundTest, ForgetsNoPlaceOfAJobThatShrinksAndGrows) {
  add_job(2);
  Round round(cluster_, trace_, policy_, idle_, {}, 0, "elastic");
  ASSERT_FALSE(round.admit(JobId{0}));
  constexpr int kRounds = 100;
  for (int at = 0; at < kRounds; ++at) {
    const std::uint32_t nodes = at % 2 == 0 ? 2 : 1;
    policy_.script = [&](const policy::View& view, policy::Plan& plan) {
      if (view.progress(JobId{0}).phase == policy::Phase::running) {
        for (const cluster::Grant& held : view.grants(JobId{0})) plan.ledger.give_back(held);
      }
      std::vector<cluster::Grant> taken;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        taken.push_back(plan.ledger.take(NodeId{node}, {.gpus = 1}));
      }
      plan.set(JobId{0}, {.grants = taken});
    };
    const Event timer{EventKind::timer};
    round.run(Time{at * 1s}, {&timer, 1});
    EXPECT_EQ(round.grants(JobId{0}).size(), nodes);
  }
  EXPECT_EQ(round.take_grants().size(), 2U);
}

}  // namespace
}  // namespace almanac::schedule
