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

constexpr JobNumber kOne{1};
constexpr JobNumber kTwo{2};
constexpr Time kNow{1h};

class OutboxTest : public testing::Test {
 protected:
  /// Saves by a disk that answers so; gives the records in each batch.
  std::vector<Numbers> save(const std::vector<Commit>& answers,
                            const std::function<void()>& meanwhile = {}) {
    std::vector<Numbers> batches;
    saved_ = outbox_.save(
        kNow, [this](JobNumber job) -> const store::Job& { return jobs_.at(job); },
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
  static Commit answer(Commit::Kind kind) { return {kind, {Code::unavailable, "no", {}, {}}}; }

  TemporaryFolder folder_;
  Outbox outbox_{folder_ / ""};
  std::map<JobNumber, store::Job> jobs_{{kOne, {.number = kOne, .asked = {}}},
                                        {kTwo, {.number = kTwo, .asked = {}}}};
  std::optional<Outbox::Saved> saved_;
};

TEST_F(OutboxTest, WritesWhatHasChangedOnce) {
  EXPECT_EQ(outbox_.due(kNow), kNever);
  outbox_.mark(kOne);
  outbox_.mark(kTwo);
  outbox_.note({.job = kOne, .what = "x"});
  EXPECT_EQ(outbox_.due(kNow), kNow);
  EXPECT_EQ(save({}), (std::vector<Numbers>{{1, 2}}));
  ASSERT_TRUE(saved_);
  EXPECT_EQ(saved_->jobs.size(), 2U);
  EXPECT_EQ(saved_->notes.size(), 1U);
  EXPECT_TRUE(save({}).empty());
  EXPECT_FALSE(outbox_.is_unsaved(kOne));
}

TEST_F(OutboxTest, WritesNoRecordThatTheStoreHas) {
  outbox_.mark(kOne);
  outbox_.mark_kept(kOne);
  outbox_.mark_kept(kTwo);
  save({});
  ASSERT_TRUE(saved_);
  EXPECT_EQ(saved_->jobs, std::set{kOne}) << "what follows from its change is due";
  outbox_.mark(kOne);
  outbox_.mark_kept(kOne);
  outbox_.mark(kOne);
  EXPECT_EQ(save({}), (std::vector<Numbers>{{1}})) << "it has changed again";
}

TEST_F(OutboxTest, KeepsWhatTheDiskRefusesAndWhatComesMeanwhile) {
  outbox_.mark(kOne);
  outbox_.note({.job = kOne, .what = "first"});
  outbox_.set("key", "old");
  EXPECT_EQ(save({answer(Commit::Kind::not_now)},
                 [&] {
                   outbox_.note({.job = kOne, .what = "second"});
                   outbox_.set("key", "new");
                 })
                .size(),
            1U);
  EXPECT_FALSE(saved_);
  EXPECT_EQ(outbox_.trouble(), "no");
  EXPECT_EQ(outbox_.due(kNow), kNow + 1s);
  save({}, [&] { outbox_.note({.job = kOne, .what = "third"}); });
  ASSERT_TRUE(saved_);
  EXPECT_EQ(outbox_.trouble(), "");
  ASSERT_EQ(saved_->notes.size(), 2U);
  EXPECT_EQ(saved_->notes.front().what, "first");
  save({});
  ASSERT_TRUE(saved_) << "what came while the disk worked is written next";
  EXPECT_EQ(saved_->notes.front().what, "third");
}

TEST_F(OutboxTest, WritesTheOthersWhereOneRecordIsRefused) {
  outbox_.mark(kOne);
  outbox_.mark(kTwo);
  const Commit refused = answer(Commit::Kind::refused);
  EXPECT_EQ(save({refused, refused}), (std::vector<Numbers>{{1, 2}, {1}, {2}, {}}));
  EXPECT_TRUE(outbox_.is_refused(kOne));
  EXPECT_FALSE(outbox_.is_refused(kTwo));
  EXPECT_EQ(outbox_.trouble(), "");
  EXPECT_EQ(outbox_.due(kNow), kNow + 1min) << "it is tried again";
}

}  // namespace
}  // namespace almanac::service
