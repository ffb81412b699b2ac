// SPDX-License-Identifier: Apache-2.0
#include "accounting/import.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

namespace almanac::accounting {
namespace {

namespace fs = std::filesystem;

/// Accounting that answers from a list.
class Books final : public manager::Link {
 public:
  std::vector<manager::Job> rows;
  int questions = 0;

  manager::Abilities can() const override { return {}; }
  std::string_view way() const override { return "books"; }
  Result<manager::Site> site() override { return fail(Code::unsupported, "no"); }
  Result<manager::News> news() override { return fail(Code::unsupported, "no"); }
  std::vector<Result<void>> change(std::span<const manager::JobChange> /*all*/) override {
    return {};
  }
  Result<void> end(manager::JobNumber /*job*/, manager::Fate /*fate*/) override { return {}; }
  Result<void> power(std::span<const std::string> /*nodes*/, bool /*on*/) override { return {}; }
  Result<void> weigh(std::span<const std::string> /*nodes*/, std::uint32_t /*weight*/) override {
    return {};
  }
  Result<void> ended(Time from, Time until, const manager::TakeEnded& take) override {
    ++questions;
    std::vector<manager::Job> found;
    for (const manager::Job& row : rows) {
      if (row.end >= from && row.end < until) found.push_back(row);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.end < b.end; });
    for (manager::Job& row : found) {
      if (auto taken = take(std::move(row)); !taken) return taken;
    }
    return {};
  }
};

constexpr Time kNow{24h * 100};

manager::Job row(std::uint32_t number, Time start, Duration ran,
                 trace::JobState outcome = trace::JobState::completed, std::string user = "ann") {
  manager::Job made{.number = manager::JobNumber{number}};
  made.name = "train";
  made.user = std::move(user);
  made.partition = "gpu";
  made.account = "vc1";
  made.state = manager::State::ended;
  made.outcome = outcome;
  made.submit = start - 1min;
  made.start = start;
  made.end = start + ran;
  made.ran = ran;
  made.gpus = 4;
  return made;
}

class ImportTest : public ::testing::Test {
 protected:
  ImportTest()
      : folder_(fs::temp_directory_path() / ("almanac_import_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    store_ = std::make_unique<store::Store>(store::Store::open(path()).value());
  }
  ~ImportTest() override {
    store_.reset();
    fs::remove_all(folder_);
  }
  std::string path() const { return folder_ / "almanac.db"; }
  /// Until all is there.
  void run(Time back_to, Time now = kNow) {
    Import import(*store_, books_, back_to);
    for (;;) {
      const auto step = import.step(now);
      ASSERT_TRUE(step) << to_string(step.error());
      if (step->done) return;
    }
  }
  store::Job job(std::int64_t number) {
    const auto found = store_->job(store::JobNumber{number}).value();
    EXPECT_TRUE(found) << number;
    return found.value_or(store::Job{});
  }

  fs::path folder_;
  std::unique_ptr<store::Store> store_;
  Books books_;
};

TEST_F(ImportTest, GoesBackWeekByWeekAsFarAsAsked) {
  for (int day = 0; day < 30; ++day) {
    books_.rows.push_back(row(static_cast<std::uint32_t>(day + 1), kNow - 24h * (day + 1), 1h));
  }
  Import import(*store_, books_, kNow - 24h * 20);
  const auto first = import.step(kNow);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rows, 7) << "the last week, first";
  EXPECT_FALSE(first->done);
  run(kNow - 24h * 20);
  EXPECT_EQ(store_->jobs({}).value().size(), 20U);
  EXPECT_EQ(reach(*store_).value()->from, kNow - 24h * 20);
}

TEST_F(ImportTest, GoesOnWhereItWasAndThenFollows) {
  books_.rows = {row(1, kNow - 24h * 9, 1h), row(2, kNow - 24h, 1h)};
  ASSERT_TRUE(Import(*store_, books_, kNow - 24h * 14).step(kNow));
  store_.reset();
  store_ = std::make_unique<store::Store>(store::Store::open(path()).value());
  run(kNow - 24h * 14);
  EXPECT_EQ(store_->jobs({}).value().size(), 2U);
  const int asked = books_.questions;
  run(kNow - 24h * 14, kNow + 1min);
  EXPECT_EQ(books_.questions, asked) << "a minute is not worth a question";
  books_.rows.push_back(row(3, kNow + 1h, 1h));
  run(kNow - 24h * 14, kNow + 24h);
  EXPECT_EQ(store_->jobs({}).value().size(), 3U);
}

TEST_F(ImportTest, MakesOneJobOfAllRunsOfOne) {
  books_.rows = {row(7, kNow - 24h * 8, 2h, trace::JobState::preempted),
                 row(7, kNow - 24h * 5, 3h, trace::JobState::node_fail),
                 row(7, kNow - 24h * 3, 4h)};
  run(kNow - 24h * 30);
  const store::Job found = job(7);
  EXPECT_EQ(found.attained, 9h);
  EXPECT_EQ(found.attempts, 3);
  EXPECT_EQ(found.preemptions, 1);
  EXPECT_EQ(found.state, trace::JobState::completed);
  EXPECT_EQ(found.submit, kNow - 24h * 8 - 1min);
  EXPECT_EQ(found.start, kNow - 24h * 8);
  EXPECT_EQ(found.end, kNow - 24h * 3 + 4h);
  EXPECT_EQ(found.asked->vc, "gpu");
  EXPECT_EQ(store_->log(Time{}).value().jobs.size(), 1U);
}

TEST_F(ImportTest, KeepsJobsOfOneNumberApart) {
  books_.rows = {row(7, kNow - 24h * 2, 1h),
                 row(7, kNow - 24h * 3, 1h, trace::JobState::failed, "bob")};
  run(kNow - 24h * 7);
  EXPECT_EQ(job(7).asked->user, "ann");
  EXPECT_EQ(job((std::int64_t{1} << 32) | 7).asked->user, "bob");
}

TEST_F(ImportTest, KeepsJobsApartThatGotOneNumberAfterAnother) {
  books_.rows = {row(7, kNow - 24h * 40, 1h), row(7, kNow - 24h * 2, 1h)};
  run(kNow - 24h * 60);
  EXPECT_TRUE(store_->job(stored_number(manager::JobNumber{7}, 0)).value().has_value());
  EXPECT_TRUE(store_->job(stored_number(manager::JobNumber{7}, 1)).value().has_value());
}

TEST_F(ImportTest, LeavesAJobAloneThatSomebodySeesRun) {
  store::Job running{.number = store::JobNumber{7},
                     .asked = store::Submission{.name = "train", .user = "ann"}};
  running.state = trace::JobState::running;
  store::Store::Batch batch;
  batch.put(running);
  ASSERT_TRUE(store_->commit(batch));
  books_.rows = {row(7, kNow - 24h * 2, 1h, trace::JobState::preempted)};
  run(kNow - 24h * 7);
  EXPECT_EQ(job(7).state, trace::JobState::running);
}

TEST_F(ImportTest, TakesAJobThatNeverRan) {
  manager::Job never = row(9, kNow - 24h, 0h, trace::JobState::cancelled);
  never.start = kNoTime;
  books_.rows = {never};
  run(kNow - 24h * 2);
  EXPECT_EQ(job(9).start, kNoTime);
  EXPECT_EQ(job(9).attempts, 0);
}

/// Whatever weeks it is cut into and however often a part is read again, the runs add up.
RC_GTEST_PROP(PastJob, RunsAddUpFromEitherEnd, ()) {
  const auto lengths =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 50)));
  const auto first = *rc::gen::inRange<std::size_t>(0, lengths.size());
  std::vector<store::Job> runs;
  Time at = kNow;
  Duration all{0};
  for (const int length : lengths) {
    runs.push_back(past_job(row(1, at, std::chrono::minutes(length)), VcFrom::partition));
    at += std::chrono::minutes(length) + 1h;
    all += std::chrono::minutes(length);
  }
  store::Job job = runs[first];
  const auto add = [&](std::size_t run) {
    if (const auto more = with_run(job, runs[run])) job = *more;
    RC_ASSERT(!with_run(job, runs[run]));
  };
  for (std::size_t run = first; run-- > 0;) add(run);
  for (std::size_t run = first + 1; run < runs.size(); ++run) add(run);
  RC_ASSERT(job.attained == all);
  RC_ASSERT(job.attempts == static_cast<int>(runs.size()));
  RC_ASSERT(job.end == runs.back().end);
}

TEST(PastJob, IsNotToBeginBeforeItWasEligible) {
  manager::Job seen = row(1, kNow, 10min);
  seen.eligible = seen.submit;
  EXPECT_EQ(past_job(seen, VcFrom::partition).asked->not_before, kNoTime);
  seen.submit -= 1h;
  EXPECT_EQ(past_job(seen, VcFrom::partition).asked->not_before, seen.eligible);
}

}  // namespace
}  // namespace almanac::accounting
