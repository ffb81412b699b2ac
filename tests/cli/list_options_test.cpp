// SPDX-License-Identifier: Apache-2.0

// What every list takes, tried on the list of policies, which needs no service.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ListOptions, PrintsChosenFieldsWithoutAHeader) {
  const ProgramRun run = run_program({"policy", "list", "--fields", "name", "--no-header"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::ContainsRegex("(^|\n)fifo\n"));
  EXPECT_EQ(run.out.find("SLOTS"), std::string::npos);
  EXPECT_EQ(run.out.find("POLICY"), std::string::npos);
}

TEST(ListOptions, SortsInBothDirections) {
  const auto first = [](const char* field) {
    const ProgramRun run = run_program(
        {"policy", "list", "--fields", "name", "-o", "csv", "--no-header", "--sort", field});
    return run.out.substr(0, run.out.find('\n'));
  };
  EXPECT_LT(first("name"), "b");
  EXPECT_GT(first("-name"), "t");
}

TEST(ListOptions, HasChosenRowsAsJson) {
  const ProgramRun run = run_program({"policy", "list", "--fields", "name,bound", "-o", "json"});
  const auto rows = nlohmann::json::parse(run.out);
  ASSERT_TRUE(rows.is_array());
  EXPECT_TRUE(rows[0]["bound"].is_boolean());
  EXPECT_EQ(rows[0].size(), 2U);
}

TEST(ListOptions, NamesTheNearestField) {
  const ProgramRun run = run_program({"policy", "list", "--fields", "nane"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("there is no field \"nane\""));
  EXPECT_THAT(run.err, HasSubstr("did you mean name?"));
  EXPECT_THAT(run.err, HasSubstr("-o csv without --fields prints all"));
}

// The log does not exist: the field is refused before anything is read or simulated.
TEST(ListOptions, RefusesAnUnknownFieldBeforeLongWork) {
  const std::vector<std::vector<std::string>> commands{
      {"simulate", "none.csv"},
      {"rerun", "none"},
      {"capacity", "none.csv", "--goal", "p90 wait < 1h"},
      {"predict", "evaluate", "none.csv"},
      {"energy", "simulate", "none.csv"},
      {"energy", "plan", "none.csv"},
      {"inference", "compare", "none.csv"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--fields", "nane"});
    const ProgramRun run = run_program(command);
    EXPECT_EQ(run.status, 2) << command.front();
    EXPECT_THAT(run.err, HasSubstr("there is no field \"nane\"")) << command.front();
  }
}

// Columns that only some logs have are known too.
TEST(ListOptions, KnowsFieldsThatDependOnTheLog) {
  for (const char* field : {"guarantee", "value_share", "share_error", "avg_cpu_job_wait_s"}) {
    const ProgramRun run = run_program({"simulate", "none.csv", "--fields", field});
    EXPECT_THAT(run.err, HasSubstr("none.csv")) << field;
    EXPECT_THAT(run.err, Not(HasSubstr("there is no field"))) << field;
  }
}

TEST(ListOptions, FitsTheWidthOfTheTerminal) {
  ::setenv("COLUMNS", "60", 1);
  const ProgramRun run = run_program({"policy", "list", "--sort", "name"});
  const ProgramRun wide = run_program({"policy", "list", "-o", "wide"});
  ::unsetenv("COLUMNS");
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60U) << line;
  EXPECT_THAT(run.out, StartsWith("POLICY"));
  EXPECT_THAT(wide.out, HasSubstr("CONDUCT"));
}

TEST(ListOptions, WatchesOnATerminalOnly) {
  const ProgramRun run = run_program({"policy", "list", "--watch"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--watch requires a terminal"));
  EXPECT_THAT(run_program({"policy", "list", "--watch", "-o", "csv"}).err,
              HasSubstr("--watch only shows tables"));
}

}  // namespace
}  // namespace almanac
