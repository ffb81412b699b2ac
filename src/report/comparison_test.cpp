// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::report {
namespace {

experiment::Summary summary(const char* policy, double wait_s) {
  experiment::Summary made;
  made.policy = policy;
  made.avg_wait_s = wait_s;
  made.queued_jobs = 12345;
  return made;
}

std::string comparison_table(const std::vector<experiment::Summary>& summaries,
                             const figure::TableForm& form) {
  return comparison_rows(summaries).table(form) + comparison_notes(summaries);
}

TEST(Comparison, ComparesEachAverageWaitWithTheFirst) {
  const std::string table = comparison_table({summary("fifo", 400), summary("sjf", 100)}, {});
  EXPECT_NE(table.find("vs fifo"), std::string::npos);
  EXPECT_NE(table.find("4.00x"), std::string::npos);
  EXPECT_NE(table.find("12,345"), std::string::npos);
}

TEST(Comparison, MarksTheBestOnlyInColour) {
  const std::vector<experiment::Summary> both = {summary("fifo", 400), summary("sjf", 100)};
  EXPECT_EQ(comparison_table(both, {}).find('\x1b'), std::string::npos);
  EXPECT_NE(comparison_table(both, {.colour = true}).find("\x1b[1m1m 40s"), std::string::npos);
}

TEST(Comparison, MarksAnOracleAndNeverCallsItBest) {
  std::vector<experiment::Summary> both = {summary("fifo", 400), summary("sjf", 100)};
  EXPECT_EQ(comparison_table(both, {}).find("bound"), std::string::npos);
  both[1].bound = true;
  const std::string table = comparison_table(both, {.colour = true});
  EXPECT_NE(table.find("sjf (oracle)"), std::string::npos);
  EXPECT_NE(table.find("An oracle uses true run times"), std::string::npos);
  EXPECT_EQ(table.find("\x1b[1m1m 40s"), std::string::npos);
  EXPECT_NE(table.find("\x1b[1m6m 40s"), std::string::npos) << "the best that can be chosen";
}

TEST(Comparison, ComparesNothingWithWhatWasInterrupted) {
  std::vector<experiment::Summary> both = {summary("fifo", 400), summary("easy", 100)};
  both[1].complete = false;
  const std::string table = comparison_table(both, {.colour = true});
  EXPECT_NE(table.find("easy (interrupted)"), std::string::npos);
  EXPECT_EQ(table.find("4.00x"), std::string::npos);
  EXPECT_EQ(table.find("\x1b[1m1m 40s"), std::string::npos);
}

TEST(Comparison, ComparesWithTheFirstThatCameToItsEnd) {
  std::vector<experiment::Summary> three = {summary("fifo", 10), summary("easy", 400),
                                            summary("sjf", 100)};
  three[0].complete = false;
  const std::string table = comparison_table(three, {});
  EXPECT_NE(table.find("vs easy"), std::string::npos);
  EXPECT_NE(table.find("4.00x"), std::string::npos);
  EXPECT_EQ(table.find("40.00x"), std::string::npos);
  EXPECT_NE(table.find("An interrupted row"), std::string::npos);
}

TEST(Comparison, GivesNoRatioWhereRowsCoverOtherJobs) {
  std::vector<experiment::Summary> both = {summary("fifo", 400), summary("kueue", 100)};
  both[0].finished = 1500;
  both[1].finished = 485;
  both[1].never_ended = 1015;
  const std::string table = comparison_table(both, {.colour = true});
  EXPECT_EQ(table.find("4.00x"), std::string::npos);
  EXPECT_EQ(table.find("\x1b[1m1m 40s"), std::string::npos) << "jobs that never end do not wait";
  EXPECT_NE(table.find("Rows average over different numbers of jobs, and only rows of equal "
                       "numbers have a ratio: fifo 1,500, kueue 485."),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("1,015 of 1,500 jobs did not finish under kueue"), std::string::npos);

  both[1].never_ended = 0;  // the others were withdrawn before they ran
  both[1].withdrawn_jobs = 1015;
  const std::string withdrawn = comparison_table(both, {});
  EXPECT_EQ(withdrawn.find("4.00x"), std::string::npos);
  EXPECT_EQ(withdrawn.find("did not finish"), std::string::npos);
}

experiment::Summary recorded(double wait_s) {
  experiment::Summary made = summary(experiment::kAsRecorded, wait_s);
  made.recorded = true;
  made.finished = 1234;
  return made;
}

TEST(Comparison, SaysHowWellAPolicyReproducesTheLog) {
  std::vector<experiment::Summary> rows = {summary("fifo", 4000), summary("easy", 1100),
                                           summary("sjf", 1000), recorded(1000)};
  rows[0].as_recorded = 0.5;
  rows[1].as_recorded = 0.93;
  rows[2].as_recorded = 0.99;
  rows[2].bound = true;  // no cluster can have made the log by it
  const std::string table = comparison_table(rows, {.colour = true});
  EXPECT_NE(table.find("as recorded"), std::string::npos);
  EXPECT_NE(table.find("Closest match to your log: easy. 93 % of the jobs start within 10m 00s of "
                       "their recorded start; the average wait is 18m 20s, recorded 16m 40s (1,234 "
                       "jobs that ran)."),
            std::string::npos)
      << table;
  EXPECT_EQ(table.find("No simulation reproduces"), std::string::npos);
  EXPECT_EQ(table.find("\x1b[1m16m 40s"), std::string::npos) << "what was recorded is no choice";
  EXPECT_EQ(table.find("1.00x  1.00x"), std::string::npos);

  rows[1].as_recorded = 0.6;
  EXPECT_NE(comparison_table(rows, {}).find("No simulation reproduces the log"), std::string::npos)
      << "too few starts";
  rows[1].as_recorded = 0.93;
  rows[0].as_recorded = 0.93;
  rows[3].avg_wait_s = 10'000;
  EXPECT_NE(comparison_table(rows, {}).find("No simulation reproduces the average wait of the log"),
            std::string::npos)
      << "other waits";
  rows.pop_back();
  EXPECT_EQ(comparison_table(rows, {}).find("recorded"), std::string::npos);
}

TEST(Comparison, NamesThePolicyWithTheNearestMeanWaitThatStopsNoJob) {
  // Most jobs start at once under all of them, so they differ little in starts.
  std::vector<experiment::Summary> rows = {summary("srtf", 990), summary("sjf", 100),
                                           summary("easy", 800), recorded(1000)};
  rows[0].preemptions = 5;
  rows[0].as_recorded = 0.9;
  rows[1].as_recorded = 0.88;
  rows[2].as_recorded = 0.87;
  EXPECT_NE(comparison_table(rows, {}).find("Closest match to your log: easy. 87 % of the jobs"),
            std::string::npos);
}

TEST(Comparison, ShowsCoresAndSpeedsOnlyWhereTheyAreKnown) {
  experiment::Summary plain = summary("fifo", 400);
  plain.gpu_utilization = plain.cpu_allocation = std::nan("");
  const std::string without = comparison_table({plain}, {});
  EXPECT_EQ(without.find("utilization"), std::string::npos);
  EXPECT_EQ(without.find("core"), std::string::npos);
  EXPECT_EQ(without.find("CPU jobs"), std::string::npos);
  experiment::Summary told = summary("coda", 100);
  told.gpu_utilization = 0.523;
  told.cpu_allocation = 0.9;
  told.cpu_jobs = 7;
  told.avg_cpu_job_wait_s = 90;
  const std::string with = comparison_table({plain, told}, {});
  EXPECT_NE(with.find("GPU utilization"), std::string::npos);
  EXPECT_NE(with.find("52.3 %"), std::string::npos);
  EXPECT_NE(with.find("core allocation"), std::string::npos);
  EXPECT_NE(with.find("CPU jobs' wait"), std::string::npos);
  EXPECT_NE(with.find("1m 30s"), std::string::npos);
}

}  // namespace
}  // namespace almanac::report
