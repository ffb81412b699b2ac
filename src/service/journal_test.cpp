// SPDX-License-Identifier: Apache-2.0
#include "service/journal.h"

#include <gtest/gtest.h>

namespace almanac::service {
namespace {

using store::JobNumber;
using What = Wish::What;

std::vector<JobNumber> jobs(std::initializer_list<int> numbers) {
  std::vector<JobNumber> made;
  for (const int each : numbers) made.push_back(JobNumber{each});
  return made;
}

std::vector<Wish> wishes_of(const Journal& journal) {
  std::vector<Wish> made;
  for (const auto& [number, wish] : journal.open()) made.push_back(wish);
  return made;
}

TEST(Journal, IsReadAsItWasWritten) {
  Journal journal;
  journal.add({.what = What::cancel, .uid = 7, .at_once = true, .jobs = jobs({1, 2, 3, 9})});
  journal.add({.what = What::update, .amended = {.gpus = 0, .time_limit = 3s}, .jobs = jobs({4})});
  journal.add({.what = What::update, .amended = {.at_once = 0}, .jobs = jobs({1, 2})});
  journal.add({.what = What::submit,
               .amended = {.gpus = 2},
               .jobs = jobs({5, 6, 7}),
               .array = JobNumber{4},
               .indices = {3, 4, -1}});
  for (const What each : {What::hold, What::release, What::requeue}) {
    journal.add({.what = each, .jobs = jobs({1})});
  }
  const auto read = Journal::read(journal.to_json());
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(wishes_of(*read), wishes_of(journal));
}

TEST(Journal, IsAsLongAsTheStretchesOfItsNumbers) {
  Journal journal;
  Wish wish{.what = What::hold};
  for (int number = 1; number <= 20'000; ++number) wish.jobs.push_back(JobNumber{number});
  journal.add(wish);
  EXPECT_EQ(journal.to_json(), R"([{"jobs":[1,20000],"uid":0,"what":"hold"}])");
}

TEST(Journal, ForgetsWhatIsSaved) {
  Journal journal;
  const auto first = journal.add({.what = What::hold, .jobs = jobs({1, 2})});
  const auto second = journal.add(
      {.what = What::submit, .jobs = jobs({2, 3}), .array = JobNumber{1}, .indices = {20, 30}});
  EXPECT_FALSE(journal.saved(jobs({4})));
  EXPECT_TRUE(journal.saved(jobs({1, 2})));
  EXPECT_FALSE(journal.contains(first));
  ASSERT_TRUE(journal.contains(second));
  EXPECT_EQ(journal.open().at(second).jobs, jobs({3}));
  EXPECT_EQ(journal.open().at(second).indices, std::vector{30});
  EXPECT_TRUE(journal.saved(jobs({3})));
  EXPECT_EQ(journal.to_json(), "[]");
}

TEST(Journal, RefusesWhatItDidNotWrite) {
  for (const char* const text :
       {"", "{", "[1]", R"([{"what":"sing","uid":0,"jobs":[]}])", R"([{"what":"hold","uid":0}])",
        R"([{"what":"hold","uid":0,"jobs":[1]}])",
        R"([{"what":"submit","uid":0,"jobs":[1,2],"array":1,"indices":[0,0]}])"}) {
    const auto read = Journal::read(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::corrupt);
  }
}

}  // namespace
}  // namespace almanac::service
