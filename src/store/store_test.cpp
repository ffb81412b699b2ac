// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "store/draw_test.h"
#include "support/temporary_folder.h"

namespace almanac::store {
namespace {

using testing::ElementsAre;
using trace::JobState;

Store opened(const TemporaryFolder& folder) {
  auto store = Store::open(folder / "almanac.db");
  EXPECT_TRUE(store) << to_string(store.error());
  return std::move(store.value());
}

Job waiting(std::int64_t number) {
  Job job;
  job.number = JobNumber{number};
  job.submit = Time(number * 1s);
  job.asked.change().name = "train";
  job.asked.change().user = "ann";
  job.asked.change().argv = {"python", "train.py"};
  return job;
}

Job ended(std::int64_t number, Time end) {
  Job job = waiting(number);
  job.state = JobState::completed;
  job.end = end;
  return job;
}

void put(Store& store, const std::vector<Job>& jobs) {
  Store::Batch batch;
  for (const Job& job : jobs) batch.put(job);
  const auto done = store.commit(batch);
  ASSERT_TRUE(done) << to_string(done.error());
}

std::vector<std::int64_t> numbers(const Result<std::vector<Job>>& jobs) {
  std::vector<std::int64_t> found;
  for (const Job& job : jobs.value()) found.push_back(static_cast<std::int64_t>(job.number));
  return found;
}

TEST(Store, IsEmptyAtFirst) {
  const TemporaryFolder folder;
  const Store store = opened(folder);
  EXPECT_EQ(store.last_number(), JobNumber{0});
  EXPECT_TRUE(store.unfinished()->empty());
  EXPECT_EQ(store.job(JobNumber{1}).value(), std::nullopt);
  EXPECT_EQ(store.get("policy").value(), std::nullopt);
}

TEST(Store, GivesBackEveryField) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  EXPECT_TRUE(rc::check([&] {
    const JobNumber last = store.last_number().value();
    const std::vector<Job> jobs = draw_jobs(static_cast<std::int64_t>(last));
    std::map<JobNumber, std::vector<Note>> notes;
    std::map<JobNumber, std::vector<Told>> told;
    Store::Batch batch;
    for (const Job& job : jobs) batch.put(job);
    for (int i = *rc::gen::inRange(0, 6); i > 0 && !jobs.empty(); --i) {
      const JobNumber job = (*rc::gen::elementOf(jobs)).number;
      batch.note(notes[job].emplace_back(draw_note(job)));
      batch.told(told[job].emplace_back(draw_told(job)));
    }
    const auto done = store.commit(batch);
    if (!done) RC_FAIL(to_string(done.error()));
    std::vector<Job> unfinished;
    for (const Job& job : jobs) {
      RC_ASSERT(store.job(job.number).value() == job);
      RC_ASSERT(store.notes(job.number).value() == notes[job.number]);
      RC_ASSERT(store.told(job.number).value() == told[job.number]);
      if (job.state != JobState::pending && job.state != JobState::running) continue;
      Job listed = job;
      listed.asked.change().argv.clear();
      listed.asked.change().script.clear();
      listed.asked.change().environment.clear();
      unfinished.push_back(listed);
    }
    auto found = store.unfinished().value();
    std::erase_if(found, [&](const Job& job) { return job.number <= last; });
    RC_ASSERT(found == unfinished);
  }));
}

TEST(Store, ChangesOnlyWhatDiffersFromTheRecordBefore) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  EXPECT_TRUE(rc::check([&] {
    const auto last = static_cast<std::int64_t>(store.last_number().value());
    std::vector<Job> jobs = draw_jobs(last);
    jobs.push_back(waiting(last + 100));
    const Job& before = jobs.front();
    Job after = jobs.back();
    after.number = before.number;
    after.task = before.task;
    after.asked = before.asked;
    put(store, {before});
    for (const auto& [from, to] : {std::pair(before, after), std::pair(after, before)}) {
      Store::Batch batch;
      batch.change(from, to);
      RC_ASSERT(static_cast<bool>(store.commit(batch)));
      const Job read = store.job(before.number).value().value();
      put(store, {to});
      RC_ASSERT(read == store.job(before.number).value().value());
    }
  }));
}

TEST(Store, ChangesAJobThatItDoesNotHaveIntoAWholeRecord) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  Job after = waiting(1);
  after.held = true;
  Store::Batch batch;
  batch.change(waiting(1), after);
  batch.change(after, after);
  ASSERT_TRUE(store.commit(batch));
  EXPECT_EQ(store.job(JobNumber{1}).value().value(), after);
}

TEST(Store, HasItAllWhenOpenedAgain) {
  const TemporaryFolder folder;
  Job job = waiting(1);
  job.asked.change().environment = {"HOME=/home/ann", "EMPTY=", ""};
  job.asked.change().script = "exit 3";
  {
    Store store = opened(folder);
    put(store, {job});
  }
  EXPECT_EQ(opened(folder).job(JobNumber{1}).value(), job);
}

TEST(Store, KeepsWhatWasAskedWhenOnlyTheRestIsPutAgain) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  Job job = waiting(1);
  put(store, {job});
  Job later = store.unfinished().value().at(0);
  later.state = JobState::running;
  later.start = Time(7s);
  put(store, {later});
  job.state = JobState::running;
  job.start = Time(7s);
  EXPECT_EQ(store.job(JobNumber{1}).value(), job);
}

TEST(Store, GivesTheTasksOfAnArrayWhatTheFirstAsked) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  std::vector<Job> tasks;
  for (std::int32_t index = 0; index < 3; ++index) {
    tasks.push_back(waiting(12 + index));
    tasks.back().task = {.array = JobNumber{12}, .index = index, .at_once = 2};
    tasks.back().asked.change().script = "#!/bin/sh\nexec python train.py\n";
  }
  put(store, tasks);
  EXPECT_EQ(store.job(JobNumber{14}).value(), tasks[2]);
  const std::vector<Job> listed = store.unfinished().value();
  ASSERT_EQ(listed.size(), 3U);
  for (const Job& each : listed) {
    EXPECT_TRUE(each.asked.is_shared_with(listed.front().asked)) << "not read for each anew";
  }
}

TEST(Asked, IsSharedUntilItIsChanged) {
  const Asked first(Submission{.name = "train"});
  Asked second = first;
  EXPECT_TRUE(second.is_shared_with(first));
  second.change().gpus = 2;
  EXPECT_FALSE(second.is_shared_with(first));
  EXPECT_EQ(first->gpus, 0);
  EXPECT_EQ(second->name, "train");
  EXPECT_NE(first, second);
}

TEST(Store, GivesNoNumberTwice) {
  const TemporaryFolder folder;
  {
    Store store = opened(folder);
    put(store, {ended(1, Time(5s)), ended(2, Time(6s)), ended(3, Time(7s))});
    EXPECT_EQ(store.forget(Time(100s)), 3);
    EXPECT_TRUE(store.jobs({})->empty());
    EXPECT_EQ(store.last_number(), JobNumber{3});
  }
  EXPECT_EQ(opened(folder).last_number(), JobNumber{3});
}

TEST(Store, ForgetsWhatEndedBefore) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  Job dependent = waiting(5);
  dependent.asked.change().after = {JobNumber{2}};
  put(store,
      {ended(1, Time(10s)), ended(2, Time(10s)), ended(3, Time(20s)), waiting(4), dependent});
  Store::Batch batch;
  batch.note({Time(1s), JobNumber{1}, "started", ""});
  batch.sample({.at = Time(5s)});
  batch.sample({.at = Time(25s)});
  ASSERT_TRUE(store.commit(batch));
  EXPECT_EQ(store.forget(Time(20s)), 1);
  EXPECT_THAT(numbers(store.jobs({})), ElementsAre(5, 4, 3, 2));
  EXPECT_TRUE(store.notes(JobNumber{1})->empty());
  EXPECT_EQ(store.moments(kNoTime)->size(), 1U);
}

TEST(Store, ForgetsMoreThanFitsOneStep) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  std::vector<Job> jobs;
  for (int i = 1; i <= 1'201; ++i) jobs.push_back(ended(i, Time(10s)));
  put(store, jobs);
  EXPECT_EQ(store.forget(Time(11s)), 1'201);
}

TEST(Store, FindsJobsNewestFirst) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  std::vector<Job> jobs{ended(1, Time(10s)), ended(2, Time(20s)), ended(3, Time(30s)), waiting(4)};
  jobs[1].asked.change().user = "bob";
  jobs[2].asked.change().name = "test";
  put(store, jobs);
  EXPECT_THAT(numbers(store.jobs({})), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(numbers(store.jobs({.user = "bob"})), ElementsAre(2));
  EXPECT_THAT(numbers(store.jobs({.name = "train"})), ElementsAre(4, 2, 1));
  EXPECT_THAT(numbers(store.jobs({.states = {JobState::pending}})), ElementsAre(4));
  EXPECT_THAT(numbers(store.jobs({.states = {JobState::pending, JobState::completed}})),
              ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(numbers(store.jobs({.ended_since = Time(20s), .ended_until = Time(30s)})),
              ElementsAre(2));
  EXPECT_THAT(numbers(store.jobs({.limit = 2})), ElementsAre(4, 3));
  EXPECT_THAT(numbers(store.jobs({.below = JobNumber{3}, .limit = 2})), ElementsAre(2, 1));
}

TEST(Store, FindsTheSmallestNumbersAboveAnother) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "almanac.db").value();
  Store::Batch batch;
  for (std::int64_t number = 1; number <= 5; ++number) {
    batch.put({.number = JobNumber{number}, .asked = {}, .end = Time(1s)});
  }
  ASSERT_TRUE(store.commit(batch));
  const auto page = store.jobs({.ended_since = Time{}, .above = JobNumber{2}, .limit = 2}).value();
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0].number, JobNumber{3});
  EXPECT_EQ(page[1].number, JobNumber{4});
}

TEST(Store, KnowsATaskByItsIndex) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "almanac.db").value();
  Store::Batch batch;
  for (const std::int32_t index : {7, 3, 5}) {
    Job task{.number = JobNumber{10 + index}, .asked = {}};
    task.task = ArrayTask{.array = JobNumber{17}, .index = index};
    batch.put(task);
  }
  ASSERT_TRUE(store.commit(batch));
  EXPECT_EQ(store.task(JobNumber{17}, 3).value(), JobNumber{13});
  EXPECT_EQ(store.task(JobNumber{17}, 4).value(), std::nullopt);
  EXPECT_EQ(store.task(JobNumber{18}, 3).value(), std::nullopt);
}

TEST(Store, GivesSomeOfManyMomentsAndTheLast) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "almanac.db").value();
  Store::Batch batch;
  for (int minute = 0; minute < 1000; ++minute) {
    batch.sample({.at = Time(minute * 1min), .gpus_busy = minute});
  }
  ASSERT_TRUE(store.commit(batch));
  const auto some = store.moments(Time(100min), 30).value();
  EXPECT_LE(some.size(), 30U);
  EXPECT_GT(some.size(), 25U);
  EXPECT_EQ(some.back().gpus_busy, 999);
  EXPECT_EQ(store.moments(Time(100min)).value().size(), 900U);
}

TEST(Store, FindsWhoEndedLastFirst) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  put(store, {ended(1, Time(50s)), waiting(2), ended(3, Time(20s)), ended(4, Time(50s)),
              ended(5, Time(40s))});
  EXPECT_THAT(numbers(store.jobs({.last_ended_first = true})), ElementsAre(4, 1, 5, 3));
  EXPECT_THAT(numbers(store.jobs({.last_ended_first = true, .limit = 2})), ElementsAre(4, 1));
}

Job trial(std::int64_t number, const std::string& sweep) {
  Job job = waiting(number);
  job.asked.change().group = sweep;
  return job;
}

TEST(Store, KeepsTheLastMetricOfEachStep) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  put(store, {trial(1, "a"), trial(2, "a"), trial(3, "b")});
  const Report first{.job = JobNumber{1}, .step = 10, .metric = 0.5, .at = Time{1s}};
  const Report again{.job = JobNumber{1}, .step = 10, .metric = 0.25, .at = Time{2s}};
  const Report other{.job = JobNumber{2}, .step = 5, .metric = 1, .at = Time{2s}};
  Store::Batch batch;
  for (const Report& each : {first, other, again}) batch.report(each);
  Report seen_twice = again;
  seen_twice.at = Time{3s};
  batch.report(seen_twice);
  batch.report({.job = JobNumber{3}, .step = 1, .metric = 7, .at = Time{2s}});
  ASSERT_TRUE(store.commit(batch));
  EXPECT_THAT(store.reports("a").value(), ElementsAre(again, other));
  EXPECT_TRUE(store.reports("").value().empty());
}

TEST(Store, KeepsSomeOfManyReportsAndTheBestAndTheLast) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  put(store, {trial(1, "a")});
  Store::Batch batch;
  constexpr int kAll = 5'000;
  const auto metric = [](int step) { return step == 1'000 ? 9.0 : step == 1'001 ? -9.0 : 0.5; };
  for (int step = 1; step <= kAll; ++step) {
    batch.report({.job = JobNumber{1}, .step = double(step), .metric = metric(step), .at = {}});
  }
  ASSERT_TRUE(store.commit(batch));
  const auto kept = store.reports("a").value();
  EXPECT_GE(std::ssize(kept), kMostReports / 2);
  EXPECT_LE(std::ssize(kept), kMostReports);
  EXPECT_EQ(kept.back().step, kAll);
  const auto has = [&](double step) {
    return std::any_of(kept.begin(), kept.end(),
                       [&](const auto& each) { return each.step == step; });
  };
  EXPECT_TRUE(has(1'000)) << "the best where larger is better";
  EXPECT_TRUE(has(1'001)) << "and where smaller is";
}

TEST(Store, CountsTheTrialsOfEachSweepTheLatestFirst) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  Job over = ended(3, Time{9s});
  over.asked.change().group = "b";
  Job runs = trial(4, "b");
  runs.state = JobState::running;
  put(store, {trial(1, "b"), trial(2, "a"), over, runs, waiting(5)});
  const SweepCount a{.name = "a", .user = "ann", .trials = 1, .waiting = 1, .begun = Time{2s}};
  const SweepCount b{
      .name = "b", .user = "ann", .trials = 3, .waiting = 1, .running = 1, .begun = Time{1s}};
  EXPECT_THAT(store.sweeps(10).value(), ElementsAre(b, a));
  EXPECT_THAT(store.sweeps(1).value(), ElementsAre(b));
  EXPECT_THAT(numbers(store.jobs({.group = "b"})), ElementsAre(4, 3, 1));
}

TEST(Store, KeepsSettingsAndMoments) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  Store::Batch batch;
  batch.set("policy", "qssf");
  batch.set("policy", "fifo");
  batch.sample({.at = Time(10s), .gpus = 16, .gpus_busy = 3, .gpu_use = 0.5, .power_w = 900});
  batch.sample({.at = Time(20s), .gpus = 16, .gpu_use = std::nan(""), .power_w = 800});
  batch.sample({.at = Time(20s), .gpus = 15, .gpu_use = std::nan(""), .power_w = 700});
  ASSERT_TRUE(store.commit(batch));
  EXPECT_EQ(store.get("policy").value(), "fifo");
  const auto moments = store.moments(Time(11s)).value();
  ASSERT_EQ(moments.size(), 1U);
  EXPECT_EQ(moments[0].gpus, 15);
  EXPECT_TRUE(std::isnan(moments[0].gpu_use));
  EXPECT_EQ(store.moments(Time(10s))->at(0).gpu_use, 0.5);
}

TEST(Store, LeavesNothingOfABatchThatFails) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  Job impossible = waiting(2);
  impossible.asked.change().argv = {std::string("a\0b", 3)};
  Store::Batch batch;
  batch.put(waiting(1));
  batch.put(impossible);
  EXPECT_EQ(store.commit(batch).error().code, Code::invalid);
  EXPECT_TRUE(store.jobs({})->empty());

  Store::Batch stray;
  stray.put(waiting(1));
  stray.note({Time(1s), JobNumber{99}, "started", ""});
  EXPECT_EQ(store.commit(stray).error().code, Code::invalid);
  EXPECT_TRUE(store.jobs({})->empty());

  put(store, {waiting(1)});
  EXPECT_THAT(numbers(store.jobs({})), ElementsAre(1));
}

TEST(Store, IsReadWhileItIsWritten) {
  const TemporaryFolder folder;
  Store store = opened(folder);
  constexpr int kJobs = 300;
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&store](const std::stop_token& stop) {
      std::size_t seen = 0;
      while (!stop.stop_requested()) {
        // Two jobs a batch: never an odd number, never fewer than before.
        const auto jobs = store.unfinished();
        ASSERT_TRUE(jobs) << to_string(jobs.error());
        ASSERT_EQ(jobs->size() % 2, 0U);
        ASSERT_GE(jobs->size(), seen);
        seen = jobs->size();
      }
    });
  }
  for (int i = 1; i < kJobs; i += 2) put(store, {waiting(i), waiting(i + 1)});
  for (std::jthread& reader : readers) reader.request_stop();
  readers.clear();
  EXPECT_EQ(store.unfinished()->size(), std::size_t{kJobs});
}

}  // namespace
}  // namespace almanac::store
