// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kUsed{"JobID", "User", "Partition", "JobName", "State", "Submit"};

/// The cells of each row with a '/' between them; what is wrong with one that cannot be read.
struct Read {
  std::vector<std::string> rows{};
  std::vector<std::string> notes{};
};

Read read(std::string_view text, const std::vector<std::string>& used = kUsed, bool steps = false) {
  const TemporaryFolder folder;
  Read made;
  const auto rows = SacctRows::open(folder.write("t", text), used, steps, "sacct -P");
  if (!rows) {
    made.rows.push_back(to_string(rows.error()));
    made.rows[0].erase(0, made.rows[0].find(':') + 1);
    return made;
  }
  for (;;) {
    const auto more = (*rows)->next();
    if (more && !*more) break;
    std::string row;
    if (!more) {
      row = std::to_string(more.error().where.line) + ": " + more.error().message;
    } else {
      for (std::size_t i = 0; i < (*rows)->header().size(); ++i) {
        row += (i == 0 ? "" : "/") + std::string((**rows)[i]);
      }
    }
    made.rows.push_back(row);
  }
  made.notes = (*rows)->notes();
  return made;
}

TEST(SacctRows, PutsADelimiterBackWhereItBelongsByWhatOtherRowsHave) {
  const char* const header = "JobID|Constraints|User|Partition|JobName|State\n";
  const Read read_ = read(header + std::string("1|a100|h100|ann|gpu|train|COMPLETED\n"
                                               "2||ann|gpu|lr=1|wd=0|FAILED\n"
                                               "3||ann|gpu|train|COMPLETED\n"));
  EXPECT_THAT(read_.rows, ElementsAre("1/a100|h100/ann/gpu/train/COMPLETED",
                                      "2//ann/gpu/lr=1|wd=0/FAILED", "3//ann/gpu/train/COMPLETED"));
  EXPECT_THAT(read_.notes, ElementsAre("rows with a delimiter inside a text (repaired): 2"));
}

TEST(SacctRows, RefusesARowThatReadsInSeveralWays) {
  const Read read_ = read(
      "JobID|Constraints|User|Partition|JobName|State\n"
      "1|a100|h100|ann|gpu|train|COMPLETED\n");
  ASSERT_EQ(read_.rows.size(), 1U);
  EXPECT_THAT(read_.rows[0], HasSubstr("2: a row must have only one reading: it has 1 \"|\" too "
                                       "many, in Constraints or JobName"));
}

TEST(SacctRows, PassesOverAnAmbiguityInWhatNobodyReads) {
  EXPECT_THAT(read("JobID|Comment|SubmitLine|State\n1|a|sbatch x | grep y|b|FAILED\n").rows,
              ElementsAre(HasSubstr("/FAILED")));
}

TEST(SacctRows, FindsCommandLinesByTheColumnsBehindThem) {
  EXPECT_THAT(read("JobID|SubmitLine|User|State|Submit\n"
                   "1|sbatch --wrap=a | b || c|ann|TIMEOUT|2026-01-05T08:00:00\n")
                  .rows,
              ElementsAre("1/sbatch --wrap=a | b || c/ann/TIMEOUT/2026-01-05T08:00:00"));
}

TEST(SacctRows, JoinsLines) {
  const Read read_ = read(
      "JobID|JobName|User|State\n1|two\nlines|ann|FAILED\n2|one|ann|COMPLETED\n"
      "3|a|b\n\nc|d|ann|COMPLETED\n");
  EXPECT_THAT(read_.rows, ElementsAre("1/two lines/ann/FAILED", "2/one/ann/COMPLETED",
                                      "3/a|b  c|d/ann/COMPLETED"));
  EXPECT_THAT(read_.notes, testing::Contains("rows with a newline inside a text (joined): 2"));
}

TEST(SacctRows, JoinsLinesOfTheLastAndTheFirstColumn) {
  EXPECT_THAT(read("JobID|User|JobName\n1|ann|two\nlines | bars\n\n2|ann|one\n").rows,
              ElementsAre("1/ann/two lines | bars", "2/ann/one"));
  EXPECT_THAT(read("JobID|User|JobName\n1|ann|one\n\n\n").notes, IsEmpty()) << "blank lines";
  EXPECT_THAT(read("JobName|JobID|User\ntwo\nlines|1|ann\none|2|ann\n").rows,
              ElementsAre("two lines/1/ann", "one/2/ann"));
}

TEST(SacctRows, RefusesRowsOfASecondCluster) {
  const Read read_ = read(
      "JobID|Cluster|User|State\n1|alpha|ann|COMPLETED\n1|beta|bob|COMPLETED\n2||eve|FAILED\n"
      "3|alpha|ann|FAILED\n");
  EXPECT_THAT(read_.rows,
              ElementsAre("1/alpha/ann/COMPLETED",
                          "3: a log must be of one cluster: \"beta\" here, \"alpha\" in line 2",
                          "2//eve/FAILED", "3/alpha/ann/FAILED"));
}

TEST(SacctRows, LosesNoRowToOneThatCannotBeRead) {
  EXPECT_THAT(
      read("JobID|JobName|User|State\n1|cut o\n2|one|ann|COMPLETED\n3|one|ann|COMPLETED\n").rows,
      ElementsAre("2: a row must have as many fields as the header (4), found 2",
                  "2/one/ann/COMPLETED", "3/one/ann/COMPLETED"));
}

TEST(SacctRows, TakesTheDelimiterThatTheHeaderHas) {
  EXPECT_THAT(read("JobID;JobName;User;State\n1;a|b;ann;FAILED\n").rows,
              ElementsAre("1/a|b/ann/FAILED"));
  EXPECT_THAT(read("JobID^^JobName^^User^^State\n1^^a^b^^ann^^FAILED\n").rows,
              ElementsAre("1/a^b/ann/FAILED"));
  EXPECT_THAT(read("JobID|JobName|User|State|\n1|a|ann|FAILED|\n").rows,
              ElementsAre("1/a/ann/FAILED/"));
}

TEST(SacctRows, SaysWhatToRunWhereTheTextCannotBeRead) {
  EXPECT_THAT(read("JobID           JobName  Partition    Account  AllocCPUS      State\n"
                   "------------ ---------- ---------- ---------- ---------- ----------\n")
                  .rows,
              ElementsAre("1: this is sacct's padded table, which cuts values to the width of "
                          "their columns (print it with "
                          "sacct -P)"));
  EXPECT_THAT(read("JobID,JobName,User,State,AllocTRES\n1,a,ann,FAILED,cpu=8,mem=1G\n").rows,
              ElementsAre(HasSubstr("commas separate the columns of this sacct log")));
  EXPECT_THAT(read("1|a|ann|2026-01-05T08:00:00|FAILED\n").rows,
              ElementsAre(HasSubstr("the header line of sacct is missing")));
}

TEST(SacctRows, LeavesOutHeadersOfLogsThatFollow) {
  const Read read_ = read("JobID|User|State\n1|ann|FAILED\nJobID|User|State\n2|ann|FAILED\n");
  EXPECT_THAT(read_.rows, ElementsAre("1/ann/FAILED", "2/ann/FAILED"));
  EXPECT_THAT(read_.notes, ElementsAre("repeated header lines (left out): 1"));
}

TEST(SacctRows, ReadsStatesOfWhichNothingIsKnownAsUnknown) {
  const Read read_ =
      read("JobID|State\n1|STAGE_OUT\n2|BRAND_NEW\n3|CANCELLED by 12\n3.0|STAGE_OUT\n");
  EXPECT_THAT(read_.rows, ElementsAre("1/", "2/", "3/CANCELLED", "3.0/"));
  EXPECT_THAT(read_.notes, ElementsAre("jobs whose state does not say how they ended (treated as "
                                       "unknown): 2 (BRAND_NEW, STAGE_OUT)"));
}

TEST(SacctRows, ReadsStepsOnlyForWhoNeedsThem) {
  const char* const log = "JobID|JobName|State\n1|a|FAILED\n1.0|bash | x|odd\n";
  EXPECT_THAT(read(log).rows, ElementsAre("1/a/FAILED", "1.0//"));
  EXPECT_THAT(read(log, {"JobID", "State"}, true).rows.back(), HasSubstr("3: a row must"));
  EXPECT_THAT(read(log).notes, IsEmpty());
}

}  // namespace
}  // namespace almanac::trace
