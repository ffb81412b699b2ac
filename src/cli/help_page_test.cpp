// SPDX-License-Identifier: Apache-2.0
#include "cli/help_page.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/value_check.h"

namespace almanac::cli {
namespace {

/// A command with options of several groups, declared in another order.
struct Example {
  CLI::App app{"A program", "almanac"};
  CLI::App* command = app.add_subcommand("replay", "Replay a log");
  std::string log, form = "table", format;
  std::vector<std::string> more;
  int weeks = 4;

  Example() {
    command->add_option("LOG", log, "Job log")->required();
    begin_group(*command, Group::output);
    command->add_option("-o,--output", form, "Output format")
        ->type_name("FORM")
        ->check(one_of({"table", "json", "csv"}))
        ->capture_default_str();
    begin_group(*command, Group::input);
    command->add_option("--weeks", weeks, "Number of weeks")
        ->check(whole_number(1, 520))
        ->capture_default_str();
    command
        ->add_option("--a-long-name-for-an-option,--alias", format,
                     "Words that go on for much longer than a single line of this page can hold")
        ->type_name("NAME");
    add_example(*command, "almanac replay log.csv --weeks 6");
    add_exit_status(*command, "1", "The replay differs");
  }
  std::string page(std::size_t width = 60) const {
    return help_page(option_table(*command), width);
  }
};

TEST(HelpPage, ListsChoicesOnceIfTheirDescriptionExplainsEach) {
  Example example;
  std::string scope = "own", by = "cluster";
  example.command->add_option("--scope", scope, "Permission. read: only read; own: also submit")
      ->check(one_of({"read", "own"}));
  example.command->add_option("--by", by, "What grows")->check(one_of({"cluster", "partition"}));
  EXPECT_THAT(example.page(100),
              testing::HasSubstr("Permission. read: only read; own: also submit\n"));
  EXPECT_THAT(example.page(100), testing::HasSubstr("What grows: cluster or partition\n"));
}

TEST(HelpPage, ShowsADefaultOfSeveralValuesAsAList) {
  Example example;
  std::vector<int> lengths{32, 128};
  example.command->add_option("--prompts", lengths, "Prompt lengths")->capture_default_str();
  EXPECT_THAT(example.page(), testing::HasSubstr("Prompt lengths (default 32, 128)\n"));
}

TEST(HelpPage, ShowsOptionsInGroupsWithTheirDefaults) {
  EXPECT_EQ(Example{}.page(),
            "Replay a log\n"
            "\n"
            "Usage: almanac replay LOG [options]\n"
            "\n"
            "Arguments:\n"
            "  LOG  Job log\n"
            "\n"
            "Input:\n"
            "      --weeks N      Number of weeks (default 4)\n"
            "      --a-long-name-for-an-option, --alias NAME\n"
            "                     Words that go on for much longer than a\n"
            "                     single line of this page can hold\n"
            "\n"
            "Output:\n"
            "  -o, --output FORM  Output format: table, json or csv\n"
            "                     (default table)\n"
            "\n"
            "General:\n"
            "  -h, --help         Print this help message and exit\n"
            "\n"
            "Exit status (others: almanac help exit-status):\n"
            "  1    The replay differs\n"
            "\n"
            "Examples:\n"
            "  almanac replay log.csv --weeks 6\n");
}

TEST(HelpPage, FitsTheWidth) {
  for (const std::size_t width : {60U, 80U, 100U}) {
    std::istringstream lines(Example{}.page(width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
  }
}

TEST(HelpPage, ContinuesALongExample) {
  EXPECT_EQ(help_example("almanac replay log.csv --weeks 6 --output json", 40),
            "  almanac replay log.csv --weeks 6 \\\n"
            "      --output json\n");
}

TEST(HelpPage, PutsOptionsBeforeTheCommandOfTheUser) {
  CLI::App app{"A program", "almanac"};
  CLI::App* const command = app.add_subcommand("submit", "Submit a job");
  std::vector<std::string> words;
  command->add_option("COMMAND", words, "Command")->option_text("-- COMMAND...");
  EXPECT_EQ(option_table(*command).usage(), "almanac submit [options] -- COMMAND...");
}

}  // namespace
}  // namespace almanac::cli
