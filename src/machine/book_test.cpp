// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs wait for before the policy sees them, and what it costs to know.
#include "machine/book.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "service/job.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;
using What = WaitsFor::What;

constexpr Time kMoment{1000s};

class BookTest : public testing::Test {
 protected:
  Entry& add(int number, store::Submission asked = {}) {
    store::Job job{.number = JobNumber{number}, .asked = std::move(asked)};
    return put(std::move(job));
  }
  /// The tasks of an array, whose first number is `first`.
  void add_array(int first, int tasks, int at_once, store::Submission asked = {}) {
    const store::Asked shared(std::move(asked));
    for (int task = 0; task < tasks; ++task) {
      store::Job job{.number = JobNumber{first + task}, .asked = shared};
      job.task = store::ArrayTask{.array = JobNumber{first}, .index = task, .at_once = at_once};
      put(std::move(job));
    }
  }
  Entry& put(store::Job job) {
    Entry& entry = book_.add(std::move(job));
    book_.wait(entry, {What::a_look});
    return entry;
  }
  Entry& at(int number) { return *book_.find(JobNumber{number}); }
  void becomes(int number, JobState state) {
    at(number).job.state = state;
    book_.recount(at(number));
    if (service::has_ended(at(number).job)) book_.wait(at(number), {});
  }
  /// Looks at all that are to be looked at, as the service does; gives those that join.
  std::vector<int> let_in() {
    std::vector<int> joined;
    for (;;) {
      const auto next = book_.anteroom().in({What::a_look});
      if (next.empty()) return joined;
      for (const JobNumber each : next) {
        ++looked_at_;
        Entry& entry = *book_.find(each);
        const WaitsFor room = book_.waits_for(entry, kMoment);
        book_.wait(entry, room);
        if (room.what != What::nothing) continue;
        book_.count_task(entry.job, +1);
        joined.push_back(static_cast<int>(static_cast<std::int64_t>(each)));
      }
    }
  }

  Book book_{[](JobNumber) { return std::optional<bool>(); }};
  int looked_at_ = 0;
};

store::Submission after_ok(std::vector<JobNumber> jobs) {
  store::Submission made;
  made.after_ok = std::move(jobs);
  return made;
}

TEST_F(BookTest, LetsSingletonsInOneAfterTheOther) {
  store::Submission asked{.name = "nightly"};
  add(1, asked);
  asked.singleton = true;
  add(2, asked);
  add(3, asked);
  add(4, {.name = "other", .singleton = true});
  EXPECT_EQ(let_in(), (std::vector{1, 4}));
  EXPECT_EQ(at(3).waits, (WaitsFor{What::namesake, 2})) << "the one before it";
  becomes(2, JobState::cancelled);
  EXPECT_TRUE(let_in().empty());
  EXPECT_EQ(at(3).waits, (WaitsFor{What::namesake, 1}));
  looked_at_ = 0;
  becomes(1, JobState::failed);
  EXPECT_EQ(let_in(), std::vector{3});
  EXPECT_EQ(looked_at_, 1);
}

// Each end concerns one of them.
TEST_F(BookTest, ManySingletonsCostOneLookEach) {
  constexpr int kJobs = 2000;
  store::Submission asked{.name = "nightly"};
  asked.singleton = true;
  for (int job = 1; job <= kJobs; ++job) add(job, asked);
  EXPECT_EQ(let_in(), std::vector{1});
  looked_at_ = 0;
  for (int job = 1; job < kJobs; ++job) {
    becomes(job, JobState::completed);
    ASSERT_EQ(let_in(), std::vector{job + 1});
  }
  EXPECT_EQ(looked_at_, kJobs - 1);
}

TEST_F(BookTest, LooksAtAJobOnceForEachThingThatHappensToIt) {
  add(1).job.held = true;
  store::Submission later;
  later.not_before = kMoment + 5s;
  add(2, later);
  add(3);
  add(4, after_ok({JobNumber{3}}));
  EXPECT_EQ(let_in(), std::vector{3});
  EXPECT_EQ(at(1).waits.what, What::release);
  EXPECT_EQ(book_.anteroom().next_time(), kMoment + 5s);
  EXPECT_EQ(at(4).waits.what, What::others);
  looked_at_ = 0;
  EXPECT_TRUE(let_in().empty());
  EXPECT_EQ(looked_at_, 0);
  becomes(3, JobState::completed);
  EXPECT_EQ(let_in(), std::vector{4});
  EXPECT_EQ(looked_at_, 1);
}

TEST_F(BookTest, AnArrayHasEndedWithTheLastOfItsTasks) {
  add_array(1, 3, 0);
  add(10, after_ok({JobNumber{1}}));
  add(11, after_ok({JobNumber{2}}));
  let_in();
  becomes(2, JobState::completed);
  EXPECT_EQ(let_in(), std::vector{11}) << "a task may be waited for alone";
  becomes(1, JobState::completed);
  EXPECT_TRUE(let_in().empty());
  becomes(3, JobState::completed);
  EXPECT_EQ(let_in(), std::vector{10});
}

TEST_F(BookTest, LetsAsManyTasksRunAsMayAtOnce) {
  add_array(1, 1000, 2);
  EXPECT_EQ(let_in(), (std::vector{1, 2}));
  looked_at_ = 0;
  for (int task = 1; task <= 900; ++task) {
    becomes(task, JobState::completed);
    book_.count_task(at(task).job, -1);
    EXPECT_EQ(let_in(), std::vector{task + 2});
  }
  EXPECT_LE(looked_at_, 3 * 900);
}

TEST_F(BookTest, ATurnThatIsNotTakenIsTheNextOnes) {
  add_array(1, 4, 1);
  EXPECT_EQ(let_in(), std::vector{1});
  becomes(1, JobState::completed);
  book_.count_task(at(1).job, -1);
  ASSERT_EQ(at(2).waits.what, What::a_look);
  at(2).job.held = true;  // before it is looked at
  EXPECT_EQ(let_in(), std::vector{3});
  becomes(3, JobState::completed);
  book_.count_task(at(3).job, -1);
  ASSERT_EQ(at(4).waits.what, What::a_look);
  becomes(4, JobState::cancelled);
  at(2).job.held = false;
  book_.wait(at(2), {What::a_look});
  EXPECT_EQ(let_in(), std::vector{2});
}

// The largest that the limits of serve allow: 1,000 jobs, 40,000 tasks after all of them.
TEST_F(BookTest, AnArrayAfterManyJobsCostsWhatBothHave) {
  std::vector<JobNumber> jobs;
  for (int job = 1; job <= 1000; ++job) {
    add(job).job.held = true;
    jobs.push_back(JobNumber{job});
  }
  add_array(2000, 40'000, 0, after_ok(jobs));
  EXPECT_TRUE(let_in().empty());
  looked_at_ = 0;
  const std::uint64_t looks = book_.num_looks();
  for (int job = 1; job <= 1000; ++job) {
    becomes(job, JobState::completed);
    const bool is_last = job == 1000;
    EXPECT_EQ(let_in().size(), is_last ? 40'000U : 0U);
  }
  EXPECT_LE(looked_at_, 41'000);
  EXPECT_LE(book_.num_looks() - looks, 2000U);
}

}  // namespace
}  // namespace almanac::machine
