// SPDX-License-Identifier: Apache-2.0
#include "report/fill_document.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/fragment/curve.h"

namespace almanac::report {
namespace {

/// Jobs of two GPUs arrive on four: something arrives at 50, 100 and 150 % only.
fragment::Curve of_wide_jobs() {
  fragment::CurveSampler sampler(4);
  sampler.sample(2000, 2000, 1000);
  sampler.sample(4000, 4000, 0);
  return sampler.curve();
}

TEST(FillDocument, ACurveStaysBetweenArrivals) {
  ASSERT_TRUE(std::isnan(of_wide_jobs().allocated[70]));
  const fragment::Curve mean = mean_of({of_wide_jobs()});
  EXPECT_EQ(mean.allocated[0], 0);
  EXPECT_EQ(mean.allocated[40], 0);
  EXPECT_EQ(mean.allocated[50], 50);
  EXPECT_EQ(mean.allocated[70], 50);
  EXPECT_EQ(mean.fragments[70], 25);
  EXPECT_EQ(mean.of_the_idle[70], 50);
  EXPECT_EQ(mean.allocated[100], 100);
  EXPECT_EQ(mean.allocated[130], 100);
}

TEST(FillDocument, SaysNoNumberThatIsNone) {
  const figure::Document document =
      fill_document({.trace = "log.csv",
                     .cluster = "1x4",
                     .nodes = 1,
                     .gpus = 4,
                     .jobs = 2,
                     .left_out = 1,
                     .orders = 1,
                     .most_given = 100},
                    {{"fgd", mean_of({of_wide_jobs()})}}, {"almanac"});
  ASSERT_EQ(document.findings.size(), 2U);
  EXPECT_EQ(document.findings[0].headline,
            "fgd allocates 100.00 % of the GPUs if the jobs request as many as there are.");
  ASSERT_EQ(document.notes.size(), 1U);
  EXPECT_THAT(document.subtitle, testing::StartsWith("jobs arrive on 4 GPUs of 1 node and"));
  EXPECT_EQ(document.facts[0].second, "3") << "jobs in the log, with what is left out";
  EXPECT_EQ(document.notes[0], "1 job is left out because no node has room for it.");
}

}  // namespace
}  // namespace almanac::report
