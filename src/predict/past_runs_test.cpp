// SPDX-License-Identifier: Apache-2.0
#include "predict/past_runs.h"

#include <array>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "predict/nested_counts.h"
#include "predict/run_time.h"

namespace almanac::predict {
namespace {

constexpr std::array<std::uint64_t, 1> kOneKind = {7};

// One job of a kind weighs 1 / (1 + 10) until jobs show better. It counts 3/9 in its cell, 2/9 and
// 1/9 in those next to it. The guess is the same in all cells: 123 below a day.
TEST(NestedCounts, MixesTheFirstJobOfAKindWithTheGuess) {
  constexpr std::array<Counting, 1> kByTime = {{{.fade = 0.9}}};
  NestedCounts counts(kByTime);
  EXPECT_NEAR(counts.run_time(kOneKind, kNoDuration).mass(76), 1.0 / 123, 1e-6);
  counts.add(kOneKind, kNoDuration, 1100s);
  const Distribution said = counts.run_time(kOneKind, kNoDuration);
  EXPECT_NEAR(said.mass(76), 3.0 / 99 + 10.0 / 11 / 123, 1e-6);
  EXPECT_NEAR(said.mass(78), 1.0 / 99 + 10.0 / 11 / 123, 1e-6);
  EXPECT_NEAR(said.mass(79), 10.0 / 11 / 123, 1e-6);
  // With a limit of 110 s, in cell 51 of 0 .. 51, it would end there. What spreads beyond counts
  // there as well: 6/9 of its own mass, 3/9 of the guess of the cell below, 1/9 of the next one.
  EXPECT_NEAR(counts.run_time(kOneKind, 110s).mass(51), 6.0 / 99 + 10.0 / 9 * 10 / 11 / 52, 1e-6);
}

TEST(NestedCounts, CarriesRatiosToAnotherLimit) {
  constexpr std::array<Counting, 1> kByRatio = {{{.by_ratio = true, .fade = 0.9}}};
  NestedCounts counts(kByRatio);
  counts.add(kOneKind, 1100s, 110s);
  EXPECT_NEAR(counts.run_time(kOneKind, 11'000s).mass(76), 3.0 / 99 + 10.0 / 11 / 75, 1e-6)
      << "a tenth of the limit";
  NestedCounts tiny(kByRatio);
  tiny.add(kOneKind, 1100s, 1s);
  EXPECT_NEAR(tiny.run_time(kOneKind, 110s).mass(30), 1.0 / 52, 1e-6)
      << "less than a second is no run time";
}

class PastRunsTest : public testing::Test {
 protected:
  trace::Request request(std::string_view user, std::string_view name,
                         Duration limit = kNoDuration) {
    trace::Request made;
    made.gpus = 1;
    made.user = names_.intern(user);
    made.name = names_.intern(name);
    made.time_limit = limit;
    return made;
  }
  void learn(const trace::Request& request, Duration ran, int times) {
    for (int at = 0; at < times; ++at) past_.learn(past_.submitted(request), ran);
  }
  Distribution run_time(const trace::Request& request) {
    return past_.run_time(past_.submitted(request));
  }
  double median_s(const trace::Request& request) {
    return std::pow(10.0, run_time(request).quantile(0.5));
  }

  Names names_;
  PastRuns past_{names_};
};

TEST_F(PastRunsTest, NarrowsFromAllJobsToTheUserToTheName) {
  for (int at = 0; at < 100; ++at) {
    learn(request("ann", "train"), 1000s, 1);
    learn(request("ann", "test"), 10s, 3);
    learn(request("bob", "serve"), 10'000s, 10);
  }
  EXPECT_NEAR(median_s(request("eve", "new")), 10'000, 1000) << "most jobs";
  EXPECT_NEAR(median_s(request("ann", "new")), 10, 1) << "most of hers";
  EXPECT_NEAR(median_s(request("ann", "train")), 1000, 100) << "all of that name";
}

TEST_F(PastRunsTest, KeepsTheRareLongRunThatTheLastTenDoNotHave) {
  learn(request("ann", "a"), 100'000s, 5);
  learn(request("ann", "b"), 10s, 95);
  EXPECT_NEAR(1 - run_time(request("ann", "new")).position(4.5), 0.05, 0.03);
}

TEST_F(PastRunsTest, TrustsNamesOnlyInALogWhereTheyTellRunTimes) {
  // Every job takes 100 s or 10,000 s. In one log its name decides, in the other chance does.
  Names names;
  PastRuns tells(names);
  PastRuns does_not(names);
  const auto named = [&](int name) {
    trace::Request made;
    made.user = names.intern("ann");
    made.name = names.intern(std::string(1, static_cast<char>('a' + name)));
    return made;
  };
  for (int at = 0; at < 2'000; ++at) {
    const int name = at % 20;
    const bool by_chance = (at * 7919 / 64) % 2 == 0;
    tells.learn(tells.submitted(named(name)), name < 10 ? 100s : 10'000s);
    does_not.learn(does_not.submitted(named(name)), by_chance ? 100s : 10'000s);
  }
  for (PastRuns* const each : {&tells, &does_not}) {
    each->learn(each->submitted(named(20)), 100s);
    each->learn(each->submitted(named(20)), 100s);
  }
  const auto short_share = [&](PastRuns& runs) {
    return runs.run_time(runs.submitted(named(20))).position(3);
  };
  EXPECT_GT(short_share(tells), 0.8);
  EXPECT_NEAR(short_share(does_not), 0.5, 0.15);
}

TEST_F(PastRunsTest, CarriesTheRatiosOfAUserToAnotherLimit) {
  for (int at = 0; at < 100; ++at) {
    const std::string name(1, static_cast<char>('a' + at % 20));
    learn(request("ann", name, 1h), 6min, 1);   // a tenth
    learn(request("bob", name, 1h), 48min, 1);  // four fifths
  }
  EXPECT_NEAR(median_s(request("ann", "new", 10h)), 3600, 400);
  EXPECT_NEAR(median_s(request("bob", "new", 10h)), 8 * 3600, 3000);
}

TEST_F(PastRunsTest, TakesANewUserForOneOfAll) {
  learn(request("ann", "train", 1h), 30min, 100);
  EXPECT_NEAR(median_s(request("eve", "new", 2h)), 3600, 400);
}

TEST_F(PastRunsTest, ExpectsAJobToUseALimitThatWasRaisedForIt) {
  // Jobs use a tenth of their limits, but users who request more than usual need nearly all of it.
  for (int at = 0; at < 100; ++at) {
    const std::string name(1, static_cast<char>('a' + at % 20));
    learn(request("ann", name, 1h), 6min, 4);
    learn(request("ann", name, 4h), 200min, 1);
  }
  learn(request("bob", "new", 2h), 12min, 1);
  EXPECT_NEAR(median_s(request("bob", "new", 2h)), 12 * 60, 120);
  EXPECT_NEAR(median_s(request("bob", "new", 8h)), 400 * 60, 60 * 60);
}

TEST_F(PastRunsTest, LetsNoJobOutliveItsLimit) {
  learn(request("ann", "train", 1h), 3h, 100);  // a cluster that grants grace
  const Distribution said = run_time(request("ann", "train", 1h));
  for (std::size_t cell = Distribution::cell_of(std::log10(3600.0)) + 1;
       cell < Distribution::kCells; ++cell) {
    EXPECT_EQ(said.mass(cell), 0);
  }
}

TEST_F(PastRunsTest, OrdersByLimitsWhereOnlyTheLimitCounts) {
  learn(request("ann", "train", 1h), 1min, 100);
  learn(request("bob", "serve", 30min), 30min, 100);
  const auto by_limit = [&](const trace::Request& of) {
    return past_.run_time_by_limit(past_.submitted(of)).quantile(0.5);
  };
  EXPECT_GT(by_limit(request("ann", "train", 1h)), by_limit(request("bob", "serve", 30min)));
}

}  // namespace
}  // namespace almanac::predict
