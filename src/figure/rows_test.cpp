// SPDX-License-Identifier: Apache-2.0
#include "figure/rows.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "figure/rows_json.h"

namespace almanac::figure {
namespace {

using testing::HasSubstr;

struct Job {
  std::string id;
  std::string user;
  int gpus = 0;
  double use = std::nan("");
  Time start = kNoTime;
};

const std::vector<Job> kJobs = {{"9", "ann", 2, 0.25, Time(1500ms)},
                                {"10_2", "bob", 16, std::nan(""), kNoTime},
                                {"10_1", "a, b", 1, 0.75, Time(2s)}};

Listing listed(const std::vector<Job>& jobs = kJobs) {
  Rows rows(jobs);
  rows.add("job_id", "JOBID", &Job::id).right();
  rows.add(Tier::detail, "user", "USER", &Job::user);
  rows.add("gpus", "GPUS", &Job::gpus);
  rows.add("use", "USE", &Job::use, Percents{0});
  rows.add(Tier::wide, "start_s", "START", &Job::start,
           [](Time at) { return at == kNoTime ? std::string("never") : "at once"; });
  rows.add(Tier::data, "note", [](const Job&) { return "x"; });
  return rows;
}

std::string csv(const Listing& rows, bool header = true) {
  const std::string path = testing::TempDir() + "/rows.csv";
  auto file = table::OutputFile::create(path);
  EXPECT_TRUE(file && rows.write_csv(*std::move(file), header));
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Decimals, ShowZeroWithoutASign) {
  EXPECT_EQ(Decimals{1}(-0.04), "0.0");
  EXPECT_EQ(Decimals{1}(-0.06), "-0.1");
  EXPECT_EQ(Percents{0}(-0.001), "0 %");
}

TEST(Rows, ShowsUsualColumnsInATable) {
  EXPECT_EQ(listed().table(),
            "JOBID  USER  GPUS   USE\n"
            "    9  ann      2  25 %\n"
            " 10_2  bob     16     -\n"
            " 10_1  a, b     1  75 %\n");
}

TEST(Rows, ShowsAllButDataInAWideTable) {
  const std::string wide = listed().table({.wide = true, .width = 10});
  EXPECT_THAT(wide, HasSubstr("JOBID  USER  GPUS   USE  START\n"));
  EXPECT_THAT(wide, HasSubstr("never\n"));
}

TEST(Rows, LeavesOutWhatMattersLeastWhereTheTerminalIsNarrow) {
  EXPECT_THAT(listed().table({.width = 22}), HasSubstr("JOBID  GPUS   USE\n")) << "no details";
  EXPECT_THAT(listed().table({.width = 16}), HasSubstr("JOBID  GPUS\n")) << "the last first";
  EXPECT_EQ(listed().table({.header = false, .width = 3}), "\n10_\n10_\n")
      << "keys stay, cut to the width";
}

TEST(Rows, CutsALongNameBeforeItLeavesOutColumns) {
  const std::vector<std::string> names = {"team-a/a-workload-with-a-name-of-many-letters", "b"};
  figure::Rows rows(names);
  rows.add(Tier::key, "name", "NAME", [](const std::string& name) { return name; });
  rows.add("gpus", "GPUS", [](const std::string&) { return 8; });
  EXPECT_EQ(rows.table({.width = 44}),
            "NAME                    GPUS\n"
            "team-a/a-workload-w...     8\n"
            "b                          8\n");
  EXPECT_THAT(rows.shortening({.width = 44}), HasSubstr("long lines cut"));
  EXPECT_THAT(rows.table({.wide = true, .width = 44}), HasSubstr("of-many-letters"));
}

TEST(Rows, NamesEveryColumnWithoutRoom) {
  EXPECT_EQ(listed().shortening({.width = 22}),
            "(Too wide for 22\ncolumns: USER not\nshown. -o wide shows\neverything.)\n");
  EXPECT_THAT(listed().shortening({.width = 16}), HasSubstr("USER,\nUSE not shown"));
  EXPECT_EQ(listed().shortening({.width = 80}), "");
}

TEST(Rows, KeepsTypesInFiles) {
  EXPECT_EQ(csv(listed()),
            "job_id,user,gpus,use,start_s,note\n"
            "9,ann,2,0.25,1.5,x\n"
            "10_2,bob,16,,,x\n"
            "10_1,\"a, b\",1,0.75,2,x\n");
  const auto json = to_array(listed());
  EXPECT_EQ(json[0]["gpus"], 2);
  EXPECT_TRUE(json[0]["gpus"].is_number_integer());
  EXPECT_EQ(json[0]["start_s"], 1.5);
  EXPECT_TRUE(json[1]["use"].is_null());
}

TEST(Rows, RoundsInFilesOnlyWhereAColumnSaysSo) {
  const std::vector<double> thirds = {1.0 / 3};
  figure::Rows rows(thirds);
  rows.add("all", [](double value) { return value; });
  rows.add("some", [](double value) { return value; }).significant(3);
  EXPECT_EQ(csv(rows, false), "0.3333333333333333,0.333\n");
}

TEST(Rows, SortsNumbersAsNumbersAndPutsMissingOnesLast) {
  Listing rows = listed();
  ASSERT_TRUE(rows.sort("job_id"));
  EXPECT_EQ(csv(rows, false).substr(0, 2), "9,");
  ASSERT_TRUE(rows.sort("-use"));
  EXPECT_EQ(csv(rows, false).substr(0, 5), "10_1,");
  ASSERT_TRUE(rows.sort("use"));
  EXPECT_THAT(csv(rows, false), testing::EndsWith("10_2,bob,16,,,x\n"));
}

TEST(Rows, PrintsChosenFieldsInTheirOrder) {
  Listing rows = listed();
  ASSERT_TRUE(rows.choose({"note", "job_id"}));
  EXPECT_EQ(csv(rows), "note,job_id\nx,9\nx,10_2\nx,10_1\n");
  EXPECT_EQ(rows.table({.width = 1}).substr(0, 2), "n\n") << "none is left out";
}

TEST(Rows, NamesTheFieldsThereAre) {
  Listing rows = listed();
  const auto chosen = rows.choose({"gpu"});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, Code::usage);
  EXPECT_THAT(chosen.error().hint, HasSubstr("did you mean gpus?"));
  EXPECT_THAT(chosen.error().hint, HasSubstr("-o csv without --fields prints all"));
  EXPECT_FALSE(rows.sort("-gpu"));
}

TEST(Rows, PrintsStrongCellsInBold) {
  Listing rows = listed();
  Listing::Column& column = rows.column(Tier::usual, "best", "BEST");
  column.cells = {Cell(1), Cell(2).strong(), Cell(3)};
  EXPECT_THAT(rows.table({.colour = true}), HasSubstr("\x1b[1m2\x1b[0m"));
  EXPECT_EQ(rows.table().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace almanac::figure
