// SPDX-License-Identifier: Apache-2.0
#include "machine/start_trouble.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace almanac::machine {
namespace {

using store::JobNumber;

constexpr Time kNow{1000s};

TEST(JobStarts, PauseLongerAfterEachFailure) {
  EXPECT_EQ(pause_before_start(1), 1s);
  EXPECT_EQ(pause_before_start(5), 16s);
  EXPECT_EQ(pause_before_start(1000), 5min);
}

TEST(JobStarts, BlameAJobOnlyWhereOthersStart) {
  JobStarts starts;
  const JobNumber bad{1};
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(starts.failed(bad, "killed", false, kNow).gives_up) << "nothing starts here";
    EXPECT_FALSE(starts.are_several());
  }
  for (int i = 2; i < JobStarts::kTries; ++i) {
    starts.worked(JobNumber{2});
    EXPECT_FALSE(starts.failed(bad, "killed", false, kNow).gives_up);
  }
  starts.worked(JobNumber{2});
  EXPECT_TRUE(starts.failed(bad, "killed", false, kNow).gives_up);
  EXPECT_EQ(starts.why(bad), nullptr) << "it is tried no more";
}

TEST(JobStarts, BlameTheMachineWhereSeveralFailInARow) {
  JobStarts starts;
  starts.failed(JobNumber{1}, "killed", false, kNow);
  EXPECT_FALSE(starts.are_several());
  starts.failed(JobNumber{2}, "killed", false, kNow);
  EXPECT_TRUE(starts.are_several());
  starts.worked(JobNumber{3});
  EXPECT_FALSE(starts.are_several());
  starts.failed(JobNumber{4}, "its folder is in the way", true, kNow);
  starts.failed(JobNumber{5}, "its folder is in the way", true, kNow);
  EXPECT_FALSE(starts.are_several()) << "why is known, and concerns nobody else";
}

TEST(JobStarts, GiveUpForAReasonOfTheJobsOwn) {
  JobStarts starts;
  for (int i = 1; i < JobStarts::kTries; ++i) {
    EXPECT_FALSE(starts.failed(JobNumber{1}, "in the way", true, kNow).gives_up);
  }
  EXPECT_TRUE(starts.failed(JobNumber{1}, "in the way", true, kNow).gives_up);
}

std::atomic<Code> answers{Code::not_found};

Result<void> ask(std::uint32_t) {
  if (answers == Code::usage) return {};
  return fail(answers, "no user 7");
}

/// What comes of it when all questions have been answered.
Accounts::News look(Accounts& accounts, Time now) {
  for (;;) {
    Accounts::News news = accounts.look(now);
    const bool is_asking = accounts.due(now) != kNever && accounts.due(now) < now + 500ms;
    if (!news.open.empty() || !news.given_up.empty() || !is_asking) return news;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Accounts, AreClosedOneByOneAndLookedForWithoutAJob) {
  answers = Code::not_found;
  Accounts accounts(ask);
  EXPECT_TRUE(accounts.failed(7, "ann", "no user 7", kNow));
  EXPECT_FALSE(accounts.failed(7, "ann", "no user 7", kNow)) << "others started with the first";
  EXPECT_TRUE(accounts.is_closed(7));
  EXPECT_FALSE(accounts.is_closed(8));
  EXPECT_EQ(accounts.warnings().size(), 1U);
  EXPECT_EQ(accounts.due(kNow), kNow + 1s);
  EXPECT_TRUE(look(accounts, kNow + 1s).open.empty());
  EXPECT_EQ(accounts.due(kNow + 1s), kNow + 3s) << "twice as late";
  answers = Code::usage;
  EXPECT_EQ(look(accounts, kNow + 3s).open, std::vector<std::uint32_t>{7});
  EXPECT_FALSE(accounts.is_closed(7));
  EXPECT_EQ(accounts.due(kNow + 3s), kNever);
}

TEST(Accounts, GiveUpOnAUserThatTheSystemDoesNotKnow) {
  answers = Code::not_found;
  Accounts accounts(ask);
  accounts.failed(7, "ann", "no user 7", kNow);
  Time now = kNow;
  int looks = 0;
  for (Accounts::News news; news.given_up.empty(); ++looks) {
    now = accounts.due(now);
    ASSERT_NE(now, kNever);
    news = look(accounts, now);
  }
  EXPECT_EQ(looks, Accounts::kUnknownTries);
  EXPECT_GT(now, kNow + 1min);
  EXPECT_LT(now, kNow + 10min);
  EXPECT_FALSE(accounts.is_closed(7));
}

TEST(Accounts, AreMorePatientWithADirectoryThatDoesNotAnswer) {
  answers = Code::unavailable;
  Accounts accounts(ask);
  accounts.failed(7, "ann", "no answer", kNow);
  Time now = kNow;
  for (Accounts::News news; news.given_up.empty();) {
    now = accounts.due(now);
    ASSERT_NE(now, kNever);
    news = look(accounts, now);
  }
  EXPECT_GT(now, kNow + 30min);
}

TEST(Accounts, CountFailuresUntilAJobHasBegun) {
  answers = Code::usage;
  Accounts accounts(ask);
  Time now = kNow;
  for (int tries = 1; tries < 4; ++tries) {
    EXPECT_TRUE(accounts.failed(7, "ann", "its quota is used up", now));
    EXPECT_EQ(accounts.due(now), now + pause_before_start(tries));
    now = accounts.due(now);
    EXPECT_EQ(look(accounts, now).open.size(), 1U);
  }
  accounts.worked(7);
  accounts.failed(7, "ann", "its quota is used up", now);
  EXPECT_EQ(accounts.due(now), now + 1s);
}

}  // namespace
}  // namespace almanac::machine
