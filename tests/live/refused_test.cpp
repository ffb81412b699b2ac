// SPDX-License-Identifier: Apache-2.0

/// \file
/// A disk that does not take what a user wants: the user is told so, and nothing has changed, nor
/// does it when the disk is back.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

class Refused : public Box {
 protected:
  /// From now on the store takes nothing, as if the disk were full.
  void fill_disk() {
    shell_ = std::make_unique<SQLite::Database>(state() + "/almanac.db", SQLite::OPEN_READWRITE,
                                                kPatienceMs);
    shell_->exec("BEGIN IMMEDIATE");
  }
  /// From now on the store takes no change of this job.
  void forbid(JobNumber job) {
    SQLite::Database(state() + "/almanac.db", SQLite::OPEN_READWRITE, kPatienceMs)
        .exec("CREATE TRIGGER no" + std::to_string(static_cast<std::int64_t>(job)) +
              " BEFORE UPDATE ON job WHEN old.number = " +
              std::to_string(static_cast<std::int64_t>(job)) +
              " BEGIN SELECT RAISE(ABORT, 'not this one'); END");
  }
  void make_room() {
    shell_->exec("ROLLBACK");
    shell_.reset();
  }
  void is_refused(const Result<void>& done) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::unavailable) << to_string(done.error());
  }
  void TearDown() override {
    shell_.reset();
    Box::TearDown();
  }
  store::Submission limited(Duration limit, const std::string& command, int gpus) {
    store::Submission asked = shell(command, gpus);
    asked.time_limit = limit;
    return asked;
  }
  std::string notes_of(JobNumber job) {
    std::string made;
    const auto notes = service_->store().notes(job);
    for (const store::Note& note : notes.value()) made += note.what + " ";
    return made;
  }

  static constexpr int kPatienceMs = 60'000;

 private:
  std::unique_ptr<SQLite::Database> shell_;
};

TEST_F(Refused, ARecordKeepsNobodyElseWaiting) {
  begin("fifo", 2);
  store::Submission asked = shell("true");
  asked.hold = true;
  const JobNumber bad = submit(asked);
  forbid(bad);
  ASSERT_FALSE(service_->release({bad}, me_));
  EXPECT_EQ(service_->overview().trouble, "");

  asked.hold = false;
  asked.not_before = wall_clock() + 1s;
  const JobNumber late = submit(asked);
  forbid(late);
  // Its start cannot be kept: it does not happen, and others run.
  EXPECT_TRUE(eventually([&] {
    const std::vector<std::string> warnings = service_->overview().warnings;
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& each) {
      return each.find("the store cannot save job 2") != std::string::npos;
    });
  }));
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  EXPECT_EQ(service_->overview().trouble, "");
  EXPECT_FALSE(std::filesystem::exists(state() + "/runs/2.1"));
}

TEST_F(Refused, ADiskThatRefusesASubmissionIsKnownAtOnce) {
  begin("fifo", 2);
  ASSERT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  fill_disk();
  const auto refused = service_->submit(shell("true"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  const service::Overview full = service_->overview();
  EXPECT_NE(full.trouble, "") << "no job has to end before it is known";
  EXPECT_EQ(full.warnings, std::vector{full.trouble});
  make_room();
  EXPECT_TRUE(eventually([&] { return service_->overview().trouble.empty(); }))
      << "nobody has to ask for anything";
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
}

TEST_F(Refused, ChangesNothingOfAJob) {
  begin("fifo", 2);
  const JobNumber over = submit(shell("echo once >> over"));
  ASSERT_TRUE(comes_to(over, JobState::completed));
  const JobNumber runs = submit(shell("while [ ! -e go ]; do sleep 0.02; done", 2));
  const JobNumber waits = submit(shell("true"));
  store::Submission asked = shell("true");
  asked.hold = true;
  const JobNumber held = submit(asked);
  ASSERT_TRUE(comes_to(runs, JobState::running));

  fill_disk();
  is_refused(service_->hold({waits}, me_));
  is_refused(service_->cancel({waits}, me_, false));
  is_refused(service_->cancel({runs}, me_, false));
  is_refused(service_->requeue({runs}, me_));
  is_refused(service_->requeue({over}, me_));
  is_refused(service_->release({held}, me_));
  make_room();

  submit(shell("true"));  // taken by a later step
  EXPECT_EQ(look(runs).state, JobState::running);
  EXPECT_EQ(look(runs).reason, "");
  EXPECT_EQ(look(waits).state, JobState::pending);
  EXPECT_FALSE(look(waits).held);
  EXPECT_TRUE(look(held).held);
  EXPECT_EQ(look(over).state, JobState::completed);
  EXPECT_EQ(notes_of(runs), "submitted started ");
  EXPECT_EQ(notes_of(held), "submitted ");
  std::ofstream(folder_ / "work" / "go").close();
  EXPECT_TRUE(comes_to(runs, JobState::completed));
  EXPECT_TRUE(comes_to(waits, JobState::completed));
  EXPECT_EQ(text("over"), "once\n");
  EXPECT_EQ(look(held).state, JobState::pending);
}

TEST_F(Refused, EndIsToldOnceWhereverItIsKept) {
  begin("fifo", 1);
  const JobNumber runs = submit(shell("echo > began; while [ ! -e go ]; do sleep 0.02; done"));
  // It is called running before the disk knows, without which it does not begin.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "work" / "began"); }));
  fill_disk();
  std::ofstream(folder_ / "work" / "go").close();
  ASSERT_TRUE(comes_to(runs, JobState::completed));
  EXPECT_TRUE(service_->jobs()->empty()) << "it neither waits nor runs";
  EXPECT_EQ(service_->jobs({.ended_since = Time{}})->size(), 1U);
  make_room();
  EXPECT_TRUE(
      eventually([&] { return service_->store().jobs({.ended_since = Time{}})->size() == 1; }));
  EXPECT_EQ(service_->jobs({.ended_since = Time{}})->size(), 1U);
}

TEST_F(Refused, APartOfAListIsNone) {
  begin("fifo", 1);
  ASSERT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  ASSERT_TRUE(
      eventually([&] { return service_->store().jobs({.ended_since = Time{}})->size() == 1; }));
  SQLite::Database other(state() + "/almanac.db", SQLite::OPEN_READWRITE, kPatienceMs);
  other.exec("ALTER TABLE job RENAME TO away");
  EXPECT_FALSE(service_->jobs({.ended_since = Time{}})) << "those that ended cannot be read";
  EXPECT_TRUE(service_->jobs()) << "those that have not ended are here";
  other.exec("ALTER TABLE away RENAME TO job");
  EXPECT_EQ(service_->jobs({.ended_since = Time{}})->size(), 1U);
}

TEST_F(Refused, ChangesNeitherPolicyNorNodes) {
  begin("fifo", 2);
  const std::string node = service_->nodes().front().name;
  fill_disk();
  is_refused(service_->set_policy("sjf", me_));
  is_refused(service_->set_shadow("sjf", me_));
  is_refused(service_->set_drained(node, true, me_));
  is_refused(service_->set_gpu_trouble(node, 1, "too hot", me_));
  make_room();
  ASSERT_TRUE(comes_to(submit(shell("true", 2)), JobState::completed));
  EXPECT_EQ(service_->overview().policy, "fifo");
  EXPECT_EQ(service_->overview().shadow, "");
  EXPECT_FALSE(service_->nodes().front().drained);
  EXPECT_EQ(service_->overview().gpus, 2);
  end();
  begin(Config{.state = state(), .machine = made_up(2), .policy = "srtf", .futures = 0});
  EXPECT_EQ(service_->overview().policy, "fifo") << "the store's own";
  EXPECT_FALSE(service_->nodes().front().drained);
}

// It would have gone first, and would have driven out the job that runs.
TEST_F(Refused, SubmissionDrivesNobodyOut) {
  begin("srtf+limit", 2);
  const JobNumber runs = submit(
      limited(1h, "trap 'exit 3' TERM; echo + >> log; while [ ! -e go ]; do sleep 0.02; done", 2));
  ASSERT_TRUE(eventually([&] { return text("log") == "+\n"; }));
  fill_disk();
  const auto refused = service_->submit(limited(1min, "echo never >> log", 2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  make_room();
  const JobNumber next = submit(limited(2h, "echo next >> log", 2));
  EXPECT_EQ(static_cast<int>(next), 2) << "its number is given to the next";
  std::ofstream(folder_ / "work" / "go").close();
  ASSERT_TRUE(comes_to(next, JobState::completed));
  EXPECT_EQ(look(runs).state, JobState::completed);
  EXPECT_EQ(look(runs).preemptions, 0);
  EXPECT_EQ(text("log"), "+\nnext\n");
}

}  // namespace
}  // namespace almanac::machine
