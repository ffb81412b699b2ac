// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_document.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

experiment::SweepPoint point(double load, std::uint64_t seed, const char* policy, double jct_s) {
  experiment::SweepPoint made{.load = load, .seed = seed};
  made.summary.policy = policy;
  made.summary.jobs = 10;
  made.summary.avg_jct_s = jct_s;
  made.summary.avg_wait_s = jct_s / 2;
  return made;
}

TEST(Spread, IsARangeOfTwoAndAnIntervalOfMore) {
  const Spread two = spread_of({10, 30});
  EXPECT_DOUBLE_EQ(two.mean, 20);
  EXPECT_DOUBLE_EQ(two.low, 10);
  EXPECT_DOUBLE_EQ(two.high, 30);
  // s = 10, n = 3: 20 +- 4.303 * 10 / sqrt(3).
  const Spread three = spread_of({10, 20, 30});
  EXPECT_NEAR(three.low, -4.843, 1e-3);
  EXPECT_NEAR(three.high, 44.843, 1e-3);
  EXPECT_DOUBLE_EQ(spread_of({7, std::nan("")}).mean, 7);
  EXPECT_TRUE(std::isnan(spread_of({}).mean));
}

TEST(SweepDocument, SaysWhereCurvesCross) {
  const figure::Document document =
      sweep_document("logs/venus.toml",
                     {point(1, 1, "easy", 100), point(1, 1, "sjf", 120), point(2, 1, "easy", 300),
                      point(2, 1, "sjf", 200), point(0.5, 1, "easy", 50), point(0.5, 1, "sjf", 50)},
                     {"almanac", "sweep", "--threads=2", "venus.toml"});
  EXPECT_EQ(document.title, "venus.toml");
  EXPECT_EQ(document.provenance.command, "almanac sweep venus.toml");
  ASSERT_THAT(document.findings, SizeIs(3));
  EXPECT_EQ(document.findings[0].headline,
            "The best policy depends on the load: easy at 0.5x, sjf at 2x.");
  EXPECT_EQ(document.findings[1].headline, "Two policies change rank as the load rises.");
  EXPECT_THAT(document.findings[1].detail, HasSubstr("easy and sjf between 1x and 2x"));
  EXPECT_EQ(document.findings[2].headline,
            "From load 0.5x to 2x the mean wait rises from 25s to 2m 30s under easy.");
  const figure::Figure& jct = document.sections[0].figures[0];
  EXPECT_THAT(jct["load"].numbers, ElementsAre(0.5, 1, 2, 0.5, 1, 2));
  EXPECT_THAT(jct["avg_jct_s"].numbers, ElementsAre(50, 100, 300, 50, 120, 200));
  ASSERT_THAT(jct.charts, SizeIs(1));
  EXPECT_FALSE(jct.charts[0].band) << "no range of one seed";
}

TEST(SweepDocument, DoesNotRecommendABound) {
  const auto told = [](bool other_is_bound) {
    std::vector<experiment::SweepPoint> points = {point(1, 1, "easy", 100), point(1, 1, "sjf", 50)};
    points[0].summary.bound = other_is_bound;
    points[1].summary.bound = true;
    return sweep_document("log.csv", points, {}).findings[0];
  };
  EXPECT_EQ(told(false).headline, "easy has the shortest mean completion time.");
  EXPECT_THAT(told(false).detail, HasSubstr("Left out as oracles: sjf. An oracle uses true run"));
  EXPECT_EQ(told(true).headline, "sjf has the shortest mean completion time.");
  EXPECT_THAT(told(true).detail, HasSubstr("Every policy is an oracle."));
}

TEST(SweepDocument, NamesWhatIsDrawnAtFirst) {
  // easy is better at one load, drf over both; sjf is better than either and no choice.
  std::vector<experiment::SweepPoint> points = {point(1, 1, "fifo", 200), point(1, 1, "easy", 100),
                                                point(1, 1, "drf", 120),  point(1, 1, "sjf", 50),
                                                point(2, 1, "fifo", 900), point(2, 1, "easy", 500),
                                                point(2, 1, "drf", 300),  point(2, 1, "sjf", 90)};
  for (experiment::SweepPoint& each : points) each.summary.bound = each.summary.policy == "sjf";
  const figure::Compared compared = sweep_document("log.csv", points, {}).compared;
  EXPECT_EQ(compared.baseline, "fifo");
  EXPECT_EQ(compared.best, "sjf");
  EXPECT_EQ(compared.best_choice, "drf");
  ASSERT_THAT(compared.policies, SizeIs(4));
  EXPECT_EQ(compared.policies[3].caution, "oracle");
}

TEST(SweepDocument, ShowsTheRangeOverSeeds) {
  const figure::Document document =
      sweep_document("log.csv", {point(1, 1, "fifo", 10), point(1, 2, "fifo", 30)}, {});
  const figure::Figure& jct = document.sections[0].figures[0];
  EXPECT_THAT(jct["low_s"].numbers, ElementsAre(10));
  EXPECT_THAT(jct["high_s"].numbers, ElementsAre(30));
  ASSERT_THAT(jct.charts, SizeIs(1)) << "the range is a band of the curve";
  ASSERT_TRUE(jct.charts[0].band);
  EXPECT_EQ(jct.charts[0].band->low, "low_s");
  EXPECT_THAT(jct.caption, HasSubstr("the minimum and maximum"));
  EXPECT_EQ(document.findings[0].headline, "Mean completion time under fifo by load.");
}

TEST(SweepDocument, DrawsWhatIsUsedWhereItIsKnown) {
  experiment::SweepPoint plain = point(1, 1, "fifo", 10);
  plain.summary.gpu_utilization = plain.summary.cpu_allocation = std::nan("");
  plain.summary.avg_cpu_job_wait_s = plain.summary.p99_cpu_job_wait_s = std::nan("");
  plain.summary.guarantee = plain.summary.avg_tardiness_s = std::nan("");
  EXPECT_THAT(sweep_document("log.csv", {plain}, {}).sections[0].figures, SizeIs(4));
  experiment::SweepPoint told = plain;
  told.summary.gpu_utilization = 0.51234;
  const figure::Document document = sweep_document("log.csv", {told}, {});
  ASSERT_THAT(document.sections[0].figures, SizeIs(5));
  const figure::Figure& use = document.sections[0].figures[4];
  EXPECT_EQ(use.id, "sweep_gpu_utilization");
  EXPECT_THAT(use["gpu_utilization"].numbers, ElementsAre(0.5123));
  EXPECT_THAT(document.sections[1].figures[0]["gpu_utilization"].numbers, ElementsAre(0.51234));
}

TEST(SweepDocument, DrawsDeadlinesMetWhereJobsHaveDeadlines) {
  experiment::SweepPoint told = point(1, 1, "fifo", 10);
  told.summary.gpu_utilization = told.summary.cpu_allocation = std::nan("");
  told.summary.avg_cpu_job_wait_s = told.summary.p99_cpu_job_wait_s = std::nan("");
  told.summary.guarantee = 0.75;
  told.summary.avg_tardiness_s = 20;
  const figure::Document document = sweep_document("log.csv", {told}, {});
  ASSERT_THAT(document.sections[0].figures, SizeIs(6));
  EXPECT_EQ(document.sections[0].figures[4].id, "sweep_guarantee");
  EXPECT_THAT(document.sections[0].figures[4]["guarantee"].numbers, ElementsAre(0.75));
}

TEST(SweepDocument, SpeaksOfNothingAtAll) {
  const figure::Document document = sweep_document("log.csv", {}, {});
  ASSERT_THAT(document.findings, SizeIs(1));
  EXPECT_EQ(document.findings[0].headline, "No job finished.");
}

}  // namespace
}  // namespace almanac::report
