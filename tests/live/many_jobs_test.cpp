// SPDX-License-Identifier: Apache-2.0

/// \file
/// A change of very many jobs: its records are written in parts, between which others are served,
/// and neither a full disk nor a restart leaves it half done.
#include <atomic>
#include <future>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

class ManyJobs : public Box {
 protected:
  static constexpr int kTasks = 6000;

  std::vector<JobNumber> submit_held(int tasks = kTasks) {
    store::Submission asked = shell("true");
    asked.hold = true;
    asked.indices.resize(static_cast<std::size_t>(tasks));
    std::iota(asked.indices.begin(), asked.indices.end(), 0);
    return service_->submit(asked).value();
  }
  /// Whether the records lack a part of what was changed.
  bool is_under_way() {
    const auto journal = service_->store().get("journal");
    return *journal && **journal != "[]";
  }
  template <typename Future>
  static bool is_ready(const Future& future) {
    return future.wait_for(0s) == std::future_status::ready;
  }
  std::size_t count(JobState state) { return service_->store().jobs({.states = {state}})->size(); }
};

TEST_F(ManyJobs, OthersAreServedWhileTheyAreChanged) {
  begin();
  const std::vector<JobNumber> all = submit_held();
  std::atomic<bool> is_done = false;
  const auto cancelled = std::async(std::launch::async, [&] {
    const auto done = service_->cancel(all, me_, false);
    is_done = true;
    return done.has_value();
  });
  int served = 0;
  while (!is_done) {
    submit(shell("true"));
    if (is_under_way()) ++served;
  }
  EXPECT_GT(served, 0);
  ASSERT_TRUE(cancelled.valid());
  EXPECT_EQ(count(JobState::cancelled), all.size()) << "whoever is answered finds all of it";
}

TEST_F(ManyJobs, OthersAreServedWhileAnArrayIsSubmitted) {
  begin();
  std::atomic<bool> is_done = false;
  auto submitted = std::async(std::launch::async, [&] {
    const auto made = submit_held();
    is_done = true;
    return made.size();
  });
  int served = 0;
  while (!is_done) {
    submit(shell("true"));
    if (is_under_way()) ++served;
  }
  EXPECT_GT(served, 0);
  EXPECT_EQ(submitted.get(), kTasks);
  EXPECT_EQ(service_->overview().held, kTasks);
}

TEST_F(ManyJobs, AreCancelledWhollyThoughTheDiskIsFullInBetween) {
  begin();
  const std::vector<JobNumber> all = submit_held();
  auto cancelled =
      std::async(std::launch::async, [&] { return service_->cancel(all, me_, false); });
  SQLite::Database other(state() + "/almanac.db", SQLite::OPEN_READWRITE);
  const auto begun = [&] {
    return other.execAndGet("SELECT COUNT(*) FROM setting WHERE key = 'journal' AND value != '[]'")
               .getInt() > 0;
  };
  while (!begun() && !is_ready(cancelled)) std::this_thread::yield();
  while (other.tryExec("BEGIN IMMEDIATE") != SQLite::OK) std::this_thread::yield();
  ASSERT_TRUE(begun()) << "it was over before the disk was full: more tasks are needed";
  EXPECT_TRUE(cancelled.get()) << "the journal has it";
  EXPECT_TRUE(eventually([&] { return !service_->overview().trouble.empty(); }));
  EXPECT_EQ(look(all.back()).state, JobState::cancelled);
  EXPECT_LT(count(JobState::cancelled), all.size());
  end();
  other.exec("ROLLBACK");
  begin();
  EXPECT_TRUE(service_->jobs()->empty()) << "the next service goes on";
  EXPECT_TRUE(eventually([&] { return count(JobState::cancelled) == all.size(); }));
  EXPECT_EQ(service_->store().notes(all.back())->size(), 2U) << "submitted, ended";
}

TEST_F(ManyJobs, AreWhatTheJournalMakesOfThem) {
  begin("fifo", 1);
  const std::vector<JobNumber> all = submit_held(4);
  const JobNumber over = submit(shell("echo + >> log"));
  ASSERT_TRUE(comes_to(over, JobState::completed));
  end();
  // As a service leaves it that was killed after it had written the first task of each change.
  SQLite::Database(state() + "/almanac.db", SQLite::OPEN_READWRITE)
      .exec(R"(INSERT INTO setting (key, value) VALUES ('journal', '[
        {"what":"submit","uid":0,"gpus":1,"array":1,"jobs":[6,7],"indices":[8,9]},
        {"what":"update","uid":0,"time_limit_ms":60000,"jobs":[2,3,6,6]},
        {"what":"requeue","uid":0,"jobs":[5,5]},
        {"what":"release","uid":0,"jobs":[3,3,7,7]},
        {"what":"cancel","uid":0,"at_once":true,"jobs":[4,4]}]')
        ON CONFLICT (key) DO UPDATE SET value = excluded.value)");
  begin("fifo", 1);
  EXPECT_EQ(look(all[0]).asked->time_limit, kNoDuration) << "no wish names it";
  EXPECT_EQ(look(all[1]).asked->time_limit, 1min);
  EXPECT_TRUE(look(all[1]).held);
  EXPECT_TRUE(comes_to(all[2], JobState::completed));
  EXPECT_EQ(look(all[3]).state, JobState::cancelled);
  EXPECT_TRUE(comes_to(over, JobState::completed));
  EXPECT_EQ(text("log"), "+\n+\n");
  const store::Job sixth = look(JobNumber{6});
  EXPECT_EQ(sixth.task, (store::ArrayTask{.array = all[0], .index = 8}));
  EXPECT_EQ(sixth.asked->time_limit, 1min);
  EXPECT_TRUE(sixth.held);
  EXPECT_TRUE(comes_to(JobNumber{7}, JobState::completed));
  EXPECT_EQ(submit(shell("true")), JobNumber{8});
  EXPECT_FALSE(is_under_way());
}

TEST_F(ManyJobs, AnArrayIsKnownByItsKeyWhileItIsSubmitted) {
  begin();
  store::Submission asked = shell("true");
  asked.hold = true;
  asked.key = "once";
  asked.indices.resize(kTasks);
  std::iota(asked.indices.begin(), asked.indices.end(), 0);
  auto first = std::async(std::launch::async, [&] { return service_->submit(asked).value(); });
  while (!is_under_way() && !is_ready(first)) std::this_thread::yield();
  EXPECT_EQ(service_->submit(asked).value(), first.get());
}

}  // namespace
}  // namespace almanac::machine
