// SPDX-License-Identifier: Apache-2.0
#include "cli/misuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::cli {
namespace {

using testing::HasSubstr;

/// What is said of a command line of a program with a command and a group of commands.
std::string said_of(const std::string& line) {
  CLI::App app{"A program", "almanac"};
  app.require_subcommand(1);
  CLI::App* const submit = app.add_subcommand("submit", "Give a job");
  int gpus = 0;
  std::vector<std::string> command;
  submit->add_option("-G,--gpus", gpus, "GPUs");
  submit->add_option("COMMAND", command, "Its command")->required();
  CLI::App* const slurm = app.add_subcommand("slurm", "A Slurm");
  slurm->require_subcommand(1);
  slurm->add_subcommand("doctor", "What will work");
  try {
    app.parse(line);
  } catch (const CLI::ParseError& error) {
    return misuse(app, error);
  }
  return "nothing";
}

TEST(Misuse, NamesTheNearestCommand) {
  EXPECT_EQ(said_of("sbumit x"),
            "almanac: no command sbumit (did you mean submit?; almanac --help lists them)");
  EXPECT_EQ(said_of("xyzzy"), "almanac: no command xyzzy (almanac --help lists them)");
  EXPECT_EQ(said_of("slurm docter"),
            "almanac: no command docter (did you mean doctor?; almanac slurm --help lists them)");
}

TEST(Misuse, NamesTheNearestOption) {
  EXPECT_EQ(said_of("submit --gpsu=2 x"),
            "almanac: no option --gpsu (did you mean --gpus?; almanac submit --help lists them)");
  EXPECT_EQ(said_of("submit -Z x"), "almanac: no option -Z (almanac submit --help lists them)");
}

TEST(Misuse, SaysWhatIsMissingAndWhereHelpIs) {
  EXPECT_EQ(said_of("submit"), "almanac: COMMAND is required (see almanac submit --help)");
}

TEST(Misuse, SaysThatAWordIsNoNumber) {
  EXPECT_EQ(said_of("submit --gpus 1,2 x"),
            "almanac: --gpus: \"1,2\" is not a valid number (see almanac submit --help)");
}

TEST(Misuse, ShowsTheCommandsWhereOneIsToCome) {
  EXPECT_THAT(said_of(""), HasSubstr("submit"));
  EXPECT_THAT(said_of("slurm"), HasSubstr("Usage: almanac slurm"));
  EXPECT_THAT(said_of("slurm"), HasSubstr("doctor"));
  EXPECT_EQ(said_of("submit x"), "nothing");
}

}  // namespace
}  // namespace almanac::cli
