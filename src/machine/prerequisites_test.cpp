// SPDX-License-Identifier: Apache-2.0
#include "machine/prerequisites.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::machine {
namespace {

using Answer = Prerequisites::Answer;
using Ended = Prerequisites::Outcome;
using store::JobNumber;

class PrerequisitesTest : public testing::Test {
 protected:
  store::Asked after(std::vector<JobNumber> any, std::vector<JobNumber> ok = {},
                     std::vector<JobNumber> not_ok = {}) {
    store::Submission made;
    made.after = std::move(any);
    made.after_ok = std::move(ok);
    made.after_not_ok = std::move(not_ok);
    return made;
  }
  std::vector<Prerequisites::List> ends(JobNumber job, Ended how) {
    outcomes_[job] = how;
    return known_.update(job);
  }

  std::map<JobNumber, Ended> outcomes_;  // of others: open
  Prerequisites known_{[this](JobNumber job) {
    const auto found = outcomes_.find(job);
    return found == outcomes_.end() ? Ended::open : found->second;
  }};
  const JobNumber a_{1}, b_{2}, c_{3};
};

TEST_F(PrerequisitesTest, AnswerAsJobsEnd) {
  EXPECT_EQ(known_.join(after({})), 0);
  EXPECT_EQ(known_.answer(0), Answer::yes);
  const auto list = known_.join(after({a_}, {b_}, {c_}));
  EXPECT_EQ(known_.answer(list), Answer::not_yet);
  EXPECT_TRUE(ends(a_, Ended::badly).empty()) << "it may end as it likes";
  EXPECT_TRUE(ends(b_, Ended::well).empty());
  EXPECT_EQ(ends(c_, Ended::badly), std::vector{list});
  EXPECT_EQ(known_.answer(list), Answer::yes);
  EXPECT_EQ(ends(b_, Ended::open), std::vector{list}) << "it is to run again";
  EXPECT_EQ(known_.answer(list), Answer::not_yet);
  EXPECT_EQ(ends(b_, Ended::badly), std::vector{list});
  EXPECT_EQ(known_.answer(list), Answer::never);
}

TEST_F(PrerequisitesTest, CountStartsWhereTheseSuffice) {
  store::Submission asked;
  asked.after_start = {a_};
  asked.after_ok = {a_, b_};
  const auto both = known_.join(asked);
  asked.after_ok = {};
  const auto start = known_.join(asked);
  EXPECT_EQ(ends(a_, Ended::begun), std::vector{start});
  EXPECT_EQ(known_.answer(start), Answer::yes);
  EXPECT_EQ(known_.answer(both), Answer::not_yet) << "it has not ended";
  EXPECT_EQ(ends(a_, Ended::open), std::vector{start}) << "it is to begin again";
  EXPECT_EQ(ends(a_, Ended::badly), (std::vector{both, start})) << "it never will";
  EXPECT_EQ(known_.answer(both), Answer::never);
  EXPECT_EQ(known_.answer(start), Answer::yes);
}

TEST_F(PrerequisitesTest, OneOfSeveralSufficesWhereThatIsSaid) {
  store::Submission asked;
  asked.after_one = true;
  asked.after_ok = {a_, b_};
  asked.after_not_ok = {a_};
  const auto list = known_.join(asked);
  EXPECT_EQ(known_.answer(list), Answer::not_yet);
  EXPECT_EQ(ends(a_, Ended::badly), std::vector{list}) << "well or not, it has ended";
  EXPECT_EQ(known_.answer(list), Answer::yes);
  asked.after_not_ok = {};
  const auto well = known_.join(asked);
  EXPECT_EQ(known_.answer(well), Answer::not_yet) << "the other may end well";
  EXPECT_EQ(ends(b_, Ended::badly), std::vector{well});
  EXPECT_EQ(known_.answer(well), Answer::never);
}

TEST_F(PrerequisitesTest, AreHopelessBeforeAllHaveEnded) {
  const auto list = known_.join(after({a_}, {b_, b_}));
  EXPECT_EQ(ends(b_, Ended::badly), std::vector{list});
  EXPECT_EQ(known_.answer(list), Answer::never);
}

// An array of 40,000 tasks that come after 1,000 jobs.
TEST_F(PrerequisitesTest, CostOneLookAJobHoweverManyWait) {
  std::vector<JobNumber> jobs;
  for (int job = 1; job <= 1000; ++job) jobs.push_back(JobNumber{job});
  const store::Asked asked = after(jobs, jobs);
  Prerequisites::List list = 0;
  for (int task = 0; task < 40'000; ++task) list = known_.join(asked);
  EXPECT_EQ(known_.num_looks(), 1000U);
  for (const JobNumber job : jobs) {
    EXPECT_EQ(known_.answer(list), Answer::not_yet);
    ends(job, Ended::well);
  }
  EXPECT_EQ(known_.answer(list), Answer::yes);
  EXPECT_EQ(known_.num_looks(), 2000U);
  for (int task = 0; task < 40'000; ++task) known_.leave(list);
  EXPECT_TRUE(ends(a_, Ended::open).empty()) << "nobody waits by it any more";
  EXPECT_EQ(known_.num_looks(), 2000U);
}

// 50,000 jobs of which each comes after the same one.
TEST_F(PrerequisitesTest, OfManyJobsAfterOneEachHasItsPart) {
  std::vector<store::Asked> asked;
  std::vector<Prerequisites::List> lists;
  for (int job = 0; job < 50'000; ++job) {
    lists.push_back(known_.join(asked.emplace_back(after({a_}))));
  }
  EXPECT_EQ(known_.num_looks(), 1U);
  EXPECT_EQ(ends(a_, Ended::well).size(), lists.size());
  for (const auto list : lists) known_.leave(list);
  EXPECT_TRUE(ends(a_, Ended::open).empty());
}

}  // namespace
}  // namespace almanac::machine
