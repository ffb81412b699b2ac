// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/serving.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace almanac::policy {
namespace {

/// Notes when it is asked, and asks to be woken once.
class Noting final : public Policy {
 public:
  Noting(std::vector<Time>& asked, Time wake) : asked_(asked), wake_(wake) {}
  void decide(std::span<const Event>, const View& view, Plan& plan) override {
    asked_.push_back(view.now);
    if (view.now < wake_) plan.wake(wake_);
  }
  Reason why_waiting(JobId, const View&, cluster::Ledger&) const override { return {}; }
  void line_up(std::vector<JobId>&) const override {}

 private:
  std::vector<Time>& asked_;
  Time wake_;
};

/// Wants as many replicas as requests wait.
class ByQueue final : public inference::Scaler {
 public:
  int want(inference::Micros, const inference::Load& load) override {
    return static_cast<int>(load.waiting);
  }
  inference::Micros period() const override { return 10e6; }
};

class ServingTest : public testing::Test {
 protected:
  ServingTest() {
    std::vector<std::unique_ptr<inference::Scaler>> scalers;
    scalers.push_back(std::make_unique<ByQueue>());
    policy_ =
        std::make_unique<Serving>(std::make_unique<Noting>(asked_, Time{15s}), std::move(scalers));
  }
  /// The replicas asked for at `now`, below 0 = nothing was said.
  int scaled_at(Time now, std::vector<Event> events = {{EventKind::timer}}) {
    Plan plan(ledger_, view_);
    view_.now = now;
    view_.services = services_;
    policy_->decide(events, view_, plan);
    wakes_ = plan.wakes;
    return plan.scales.empty() ? -1 : plan.scales.front().replicas;
  }

  cluster::Cluster cluster_ = cluster::uniform(1, 1);
  cluster::Ledger ledger_{cluster_};
  std::vector<trace::Job> jobs_{1};
  std::vector<Progress> progress_{1};
  std::vector<cluster::Demand> demands_;
  std::vector<cluster::Grant> grants_;
  Rng rng_{0};
  View view_{cluster_, rng_, {jobs_, progress_, demands_, grants_}};
  std::vector<Service> services_{{.name = "chat", .least = 1, .most = 3, .load = {}}};
  std::vector<Time> asked_;
  std::unique_ptr<Policy> policy_;
  std::vector<Time> wakes_;
};

TEST_F(ServingTest, AsksAScalerEachPeriodAndKeepsToTheBounds) {
  EXPECT_EQ(scaled_at(Time{0s}), 1) << "no request waits, and one replica is the least";
  EXPECT_EQ(wakes_, std::vector<Time>{Time{10s}});
  services_[0].wanted = 1;
  services_[0].load.waiting = 7;
  EXPECT_EQ(scaled_at(Time{5s}), -1) << "before its time";
  EXPECT_EQ(scaled_at(Time{10s}), 3);
  services_[0].load.over = true;
  EXPECT_EQ(scaled_at(Time{20s}), 0);
  EXPECT_TRUE(wakes_.empty());
  EXPECT_EQ(scaled_at(Time{30s}), -1);
}

TEST_F(ServingTest, LetsThePolicyOfJobsSeeNoTimerButItsOwn) {
  scaled_at(Time{0s});
  EXPECT_TRUE(asked_.empty());
  scaled_at(Time{5s}, {{EventKind::job_arrived, 0}});
  scaled_at(Time{10s});
  scaled_at(Time{15s});
  scaled_at(Time{20s});
  EXPECT_EQ(asked_, (std::vector<Time>{Time{5s}, Time{15s}}));
}

}  // namespace
}  // namespace almanac::policy
