// SPDX-License-Identifier: Apache-2.0

/// \file
/// The steps of one machine by a clock that only the test moves. Nothing acts, so no process
/// starts.
#include "machine/machine_cluster.h"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "machine/parts.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace almanac::machine {
namespace {

constexpr service::Caller kOperator{.uid = 0, .may_all = true};

class MachineClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    Machine machine{.cluster = cluster::uniform(1, 2), .gpu_names = {{"0", "1"}}};
    auto opened = open_folder({.state = folder_ / "state",
                               .machine = std::move(machine),
                               .policy = "fifo",
                               .futures = 0});
    ASSERT_TRUE(opened) << to_string(opened.error());
    parts_ = std::make_unique<Parts>(*std::move(opened), Time::min(), clock_);
    const auto recovered = parts_->recovery.recover({});
    ASSERT_TRUE(recovered) << to_string(recovered.error());
    // Another thread makes the first policy.
    while (parts_->queue.is_held_back()) step();
  }

  /// A step without its acts.
  void step() {
    service::Cluster& cluster = parts_->steps;
    cluster.renew(false);
    cluster.take_requests();
    cluster.look();
    cluster.decide();
    cluster.keep();
    cluster.finish();
  }
  /// Asks in a thread of its own, and takes steps until there is an answer.
  template <typename Ask>
  auto ask(Ask question) {
    auto answer = std::async(std::launch::async, std::move(question));
    while (answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) step();
    return answer.get();
  }
  store::JobNumber submit(store::Submission asked) {
    asked.name = "test";
    asked.user = "me";
    asked.uid = ::geteuid();
    asked.gpus = 1;
    asked.argv = {"true"};
    asked.directory = folder_ / "state";
    asked.grace = 2s;
    const auto numbers = ask([&] { return parts_->submissions.submit(asked); });
    EXPECT_TRUE(numbers) << to_string(numbers.error());
    step();
    return numbers ? numbers->front() : store::JobNumber{};
  }
  std::string why_word(store::JobNumber job) const { return parts_->jobs.job(job)->why_word; }
  bool has_gpus(store::JobNumber job) const { return parts_->state.book.find(job)->is_starting(); }

  TemporaryFolder folder_;
  FakeClock clock_;
  std::unique_ptr<Parts> parts_;
};

TEST_F(MachineClusterTest, StartsAJobNotBeforeItsTime) {
  const store::JobNumber job = submit({.not_before = clock_.wall() + 2h});
  EXPECT_EQ(why_word(job), "BeginTime");
  clock_.advance(119min);
  step();
  EXPECT_FALSE(has_gpus(job));
  clock_.advance(1min);
  step();
  EXPECT_TRUE(has_gpus(job));
}

TEST_F(MachineClusterTest, CountsAWaitFromWhenAJobIsEligible) {
  const auto wait_s = [&](store::JobNumber job) {
    service::Waits waits;
    parts_->state.add_wait(waits, *parts_->state.book.find(job), clock_.wall());
    return waits.by_user().empty() ? -1 : waits.by_user().at("me").sum_s;
  };
  submit({});
  submit({});
  const store::JobNumber waits = submit({});
  const store::JobNumber later = submit({.not_before = clock_.wall() + 2h});
  const store::JobNumber held = submit({.hold = true});
  clock_.advance(3h);
  step();
  EXPECT_EQ(wait_s(waits), 3 * 3600) << "both GPUs are taken";
  EXPECT_EQ(wait_s(later), 0) << "it may begin since this step";
  EXPECT_EQ(wait_s(held), -1) << "it is not eligible";
  {
    const std::lock_guard lock(parts_->state.mutex);
    parts_->lifecycle.apply(*parts_->state.book.find(held), life::Released{});
  }
  step();
  clock_.advance(10min);
  EXPECT_EQ(wait_s(held), 600) << "since it was released";
}

TEST_F(MachineClusterTest, SleepsUntilTheNextJobMayBegin) {
  submit({.not_before = clock_.wall() + 5s});
  EXPECT_EQ(parts_->steps.rest(), 5s + 1ms);
  clock_.advance(4s);
  EXPECT_EQ(parts_->steps.rest(), 1s + 1ms);
}

TEST_F(MachineClusterTest, StartsNoJobThatWouldRunIntoMaintenance) {
  const Time now = clock_.wall();
  const auto announced =
      ask([&] { return parts_->windows.announce({.from = now + 1h, .to = now + 3h}, kOperator); });
  ASSERT_TRUE(announced) << to_string(announced.error());
  const store::JobNumber brief = submit({.time_limit = 30min});
  const store::JobNumber lengthy = submit({.time_limit = 2h});
  EXPECT_TRUE(has_gpus(brief));
  EXPECT_EQ(why_word(lengthy), "Maintenance");
  clock_.advance(3h);
  step();
  EXPECT_TRUE(has_gpus(lengthy));
}

TEST_F(MachineClusterTest, GivesNoGpuOfADrainedNode) {
  ASSERT_TRUE(ask([&] {
    return parts_->out_of_service.set_drained(parts_->cluster.nodes().front().name, true,
                                              kOperator);
  }));
  const store::JobNumber job = submit({});
  EXPECT_FALSE(has_gpus(job));
  ASSERT_TRUE(ask([&] {
    return parts_->out_of_service.set_drained(parts_->cluster.nodes().front().name, false,
                                              kOperator);
  }));
  step();
  EXPECT_TRUE(has_gpus(job));
}

}  // namespace
}  // namespace almanac::machine
