// SPDX-License-Identifier: Apache-2.0
#include "service/outbox.h"

#include <map>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::service {
namespace {

using store::Commit;
using store::JobNumber;
using Numbers = std::vector<std::int64_t>;

constexpr JobNumber kFirst{1};
constexpr JobNumber kSecond{2};
constexpr Time kNow{1h};

class OutboxTest : public testing::Test {
 protected:
  /// Saves by a disk that answers so; gives the records in each batch.
  std::vector<Numbers> save(const std::vector<Commit>& answers,
                            const std::function<void()>& meanwhile = {}) {
    std::vector<Numbers> batches;
    saved_ = outbox_.save(
        kNow, [this](JobNumber job) -> const store::Job& { return record_of(job); },
        [&](const store::Store::Batch& batch) {
          Numbers& numbers = batches.emplace_back();
          batch.each_job([&](const store::Job& job) {
            numbers.push_back(static_cast<std::int64_t>(job.number));
          });
          if (meanwhile) meanwhile();
          return batches.size() <= answers.size() ? answers[batches.size() - 1] : Commit{};
        });
    return batches;
  }
  /// The record of a job as the service has it.
  store::Job& record_of(JobNumber job) {
    return jobs_.try_emplace(job, store::Job{.number = job, .asked = {}}).first->second;
  }
  static std::vector<std::size_t> sizes(const std::vector<Numbers>& batches) {
    std::vector<std::size_t> made;
    for (const Numbers& each : batches) made.push_back(each.size());
    return made;
  }
  /// A wish of the journal changes these, with a note on each.
  void cover(int first, int last) {
    Wish wish;
    for (int number = first; number <= last; ++number) wish.jobs.push_back(JobNumber{number});
    outbox_.journal().add(wish);
    for (const JobNumber job : wish.jobs) {
      outbox_.cover(job, std::nullopt, [&] {
        outbox_.note({.job = job, .what = "covered"});
        outbox_.mark(job);
      });
    }
  }
  /// Jobs whose records the wish still waits for.
  std::size_t left() const {
    const auto& open = outbox_.journal().open();
    return open.empty() ? 0 : open.begin()->second.jobs.size();
  }
  static Commit answer(Commit::Kind kind) { return {kind, {Code::unavailable, "no", {}, {}}}; }

  TemporaryFolder folder_;
  Outbox outbox_{folder_ / ""};
  std::map<JobNumber, store::Job> jobs_;
  std::optional<Outbox::Saved> saved_;
};

TEST_F(OutboxTest, WritesWhatHasChangedOnce) {
  EXPECT_EQ(outbox_.due(kNow), kNever);
  outbox_.mark(kFirst);
  outbox_.mark(kSecond);
  outbox_.note({.job = kFirst, .what = "x"});
  EXPECT_EQ(outbox_.due(kNow), kNow);
  EXPECT_EQ(save({}), (std::vector<Numbers>{{1, 2}}));
  ASSERT_TRUE(saved_);
  EXPECT_EQ(saved_->jobs.size(), 2U);
  EXPECT_EQ(saved_->notes.size(), 1U);
  EXPECT_TRUE(save({}).empty());
  EXPECT_FALSE(outbox_.is_unsaved(kFirst));
}

TEST_F(OutboxTest, WritesVeryManyCoveredRecordsSomeAtATime) {
  cover(1, 1200);
  EXPECT_TRUE(outbox_.is_unsaved(JobNumber{1200}));
  EXPECT_EQ(sizes(save({})), std::vector<std::size_t>{500});
  EXPECT_EQ(saved_->notes.size(), 500U) << "a note goes with its record";
  EXPECT_EQ(left(), 700U) << "the journal with it has the others";
  outbox_.mark(JobNumber{2000});
  outbox_.mark(JobNumber{1200});
  EXPECT_EQ(outbox_.due(kNow), kNow);
  EXPECT_EQ(sizes(save({})), std::vector<std::size_t>{502}) << "others do not wait for them";
  EXPECT_EQ(saved_->jobs.back(), JobNumber{2000});
  EXPECT_EQ(sizes(save({})), std::vector<std::size_t>{199});
  EXPECT_EQ(left(), 0U);
  EXPECT_EQ(outbox_.due(kNow), kNever);
}

TEST_F(OutboxTest, HasAllOfAWishWhereTheDiskRefusesAPartOfIt) {
  cover(1, 1200);
  save({});
  save({answer(Commit::Kind::not_now)});
  EXPECT_FALSE(saved_);
  EXPECT_EQ(left(), 700U);
  EXPECT_EQ(sizes(save({answer(Commit::Kind::not_now)})), std::vector<std::size_t>{500})
      << "no more than before";
  EXPECT_EQ(sizes(save({})), std::vector<std::size_t>{500});
  EXPECT_EQ(saved_->notes.size(), 500U);
  EXPECT_EQ(sizes(save({})), std::vector<std::size_t>{200});
  EXPECT_EQ(left(), 0U);
}

TEST_F(OutboxTest, HasTheJournalNameARecordThatIsRefused) {
  cover(1, 2);
  const Commit refused = answer(Commit::Kind::refused);
  EXPECT_EQ(save({refused, refused}), (std::vector<Numbers>{{1, 2}, {1}, {2}, {}}));
  EXPECT_TRUE(outbox_.is_refused(kFirst));
  EXPECT_EQ(left(), 1U);
}

TEST_F(OutboxTest, WritesTheJournalWhereAWishChangedNothing) {
  outbox_.journal().add({.jobs = {kFirst, kSecond}});
  outbox_.settle({kFirst, kSecond});
  EXPECT_EQ(save({}).size(), 1U);
  EXPECT_EQ(outbox_.due(kNow), kNever);
}

TEST_F(OutboxTest, WritesTheNotesOfACoveredRecordInTheirOrder) {
  cover(1, 1200);
  outbox_.note({.job = JobNumber{1100}, .what = "later"});
  save({});
  std::vector<std::string> notes;
  for (const store::Note& each : saved_->notes) {
    if (each.job == JobNumber{1100}) notes.push_back(each.what);
  }
  EXPECT_EQ(notes, (std::vector<std::string>{"covered", "later"}));
}

TEST_F(OutboxTest, KeepsWhatTheDiskRefusesAndWhatComesMeanwhile) {
  outbox_.mark(kFirst);
  outbox_.note({.job = kFirst, .what = "first"});
  outbox_.set("key", "old");
  EXPECT_EQ(save({answer(Commit::Kind::not_now)},
                 [&] {
                   outbox_.note({.job = kFirst, .what = "second"});
                   outbox_.set("key", "new");
                 })
                .size(),
            1U);
  EXPECT_FALSE(saved_);
  EXPECT_EQ(outbox_.trouble(), "no");
  EXPECT_EQ(outbox_.due(kNow), kNow + 1s);
  save({}, [&] { outbox_.note({.job = kFirst, .what = "third"}); });
  ASSERT_TRUE(saved_);
  EXPECT_EQ(outbox_.trouble(), "");
  ASSERT_EQ(saved_->notes.size(), 2U);
  EXPECT_EQ(saved_->notes.front().what, "first");
  save({});
  ASSERT_TRUE(saved_) << "what came while the disk worked is written next";
  EXPECT_EQ(saved_->notes.front().what, "third");
}

TEST_F(OutboxTest, WritesTheOthersWhereOneRecordIsRefused) {
  outbox_.mark(kFirst);
  outbox_.mark(kSecond);
  const Commit refused = answer(Commit::Kind::refused);
  EXPECT_EQ(save({refused, refused}), (std::vector<Numbers>{{1, 2}, {1}, {2}, {}}));
  EXPECT_TRUE(outbox_.is_refused(kFirst));
  EXPECT_FALSE(outbox_.is_refused(kSecond));
  EXPECT_EQ(outbox_.trouble(), "");
  EXPECT_EQ(outbox_.due(kNow), kNow + 1min) << "it is tried again";
}

// Another part of the service has committed the record by itself.
TEST_F(OutboxTest, DoesNotWriteARecordThatTheStoreHas) {
  const store::Job& record = record_of(kFirst);
  outbox_.mark(kFirst);
  outbox_.keep(kFirst, record);
  outbox_.mark(kSecond);
  EXPECT_EQ(save({}), (std::vector<Numbers>{{2}}));
  EXPECT_FALSE(outbox_.is_unsaved(kFirst));
  EXPECT_EQ(outbox_.due(kNow), kNever);
}

TEST_F(OutboxTest, WritesWhatHasChangedSinceTheStoreGotTheRecord) {
  store::Job& record = record_of(kFirst);
  outbox_.mark(kFirst);
  outbox_.keep(kFirst, record);
  record.held = true;
  EXPECT_EQ(save({}), (std::vector<Numbers>{{1}}));
  outbox_.mark(kFirst);
  outbox_.keep(kFirst, record);
  outbox_.mark(kFirst);
  EXPECT_EQ(save({}), (std::vector<Numbers>{{1}})) << "more may have changed than is known";
}

TEST_F(OutboxTest, WritesTheNotesOfARecordThatTheStoreHas) {
  outbox_.mark(kFirst);
  outbox_.note({.job = kFirst, .what = "changed"});
  outbox_.keep(kFirst, record_of(kFirst));
  EXPECT_EQ(save({}), (std::vector<Numbers>{{}}));
  ASSERT_TRUE(saved_);
  EXPECT_EQ(saved_->notes.size(), 1U);
}

TEST_F(OutboxTest, WritesACoveredRecordThatTheStoreHasWithTheNextBatch) {
  cover(1, 1200);
  outbox_.keep(JobNumber{1200}, record_of(JobNumber{1200}));
  EXPECT_EQ(sizes(save({})), std::vector<std::size_t>{500}) << "nothing of it is left to write";
  EXPECT_EQ(left(), 699U) << "the journal does not name it any more";
}

TEST_F(OutboxTest, TriesARefusedChangeAgainWithItsFormerRecord) {
  store::Job& record = record_of(kFirst);
  outbox_.mark(kFirst);
  outbox_.keep(kFirst, record);
  record.held = true;
  EXPECT_EQ(save({answer(Commit::Kind::not_now)}), (std::vector<Numbers>{{1}}));
  EXPECT_FALSE(saved_);
  EXPECT_TRUE(outbox_.is_unsaved(kFirst));
  record.held = false;
  EXPECT_EQ(save({}), (std::vector<Numbers>{{}})) << "the store has it as it is again";
  EXPECT_FALSE(outbox_.is_unsaved(kFirst));
}

}  // namespace
}  // namespace almanac::service
