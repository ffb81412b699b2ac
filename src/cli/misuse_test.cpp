// SPDX-License-Identifier: Apache-2.0
#include "cli/misuse.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/value_check.h"

namespace almanac::cli {
namespace {

using testing::HasSubstr;

/// What is said of a command line of a program with a command and a group of commands.
std::string said_of(const std::string& line) {
  CLI::App app{"A program", "almanac"};
  app.require_subcommand(1);
  std::string config;
  app.add_option("--config", config, "A file");
  CLI::App* const serve = app.add_subcommand("serve", "Start a service");
  int machine_gpus = 0;
  double share = 0;
  std::uint64_t seed = 0;
  std::string engine;
  std::string cluster;
  CLI::Option* const counted =
      serve->add_option("--gpus", machine_gpus, "GPUs")->check(whole_number(0, 64));
  serve->add_option("--share", share, "A share")->check(number(0, 1));
  serve->add_option("--seed", seed, "A seed")->check(seed_number());
  serve->add_option("--engine", engine, "An engine")->check(one_of({"machine", "slurm"}));
  serve->add_option("--cluster", cluster, "A cluster")->excludes(counted);
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

TEST(Misuse, FindsACommandThatStandsBelowAnother) {
  EXPECT_EQ(said_of("doctor"),
            "almanac: no command doctor (did you mean almanac slurm doctor?; almanac --help lists "
            "them)");
}

TEST(Misuse, SaysWhatWasGivenTwice) {
  EXPECT_EQ(said_of("serve --engine machine --engine slurm"),
            "almanac: --engine must be given at most once, found \"machine\" and \"slurm\" (see "
            "almanac serve --help)");
}

TEST(Misuse, SaysWhereOptionsOfTheProgramStand) {
  EXPECT_EQ(said_of("serve --config x"),
            "almanac: --config must be given before the command, as in almanac --config VALUE "
            "serve");
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
            "almanac: --gpus must be a number that is not too large, found \"1,2\" (see almanac "
            "submit --help)");
}

TEST(Misuse, SaysWhatAValueMustBe) {
  EXPECT_EQ(said_of("serve --gpus -1"),
            "almanac: --gpus must be a whole number from 0 to 64, found \"-1\" (see almanac serve "
            "--help)");
  EXPECT_THAT(said_of("serve --gpus 0x8"), HasSubstr("found \"0x8\""));
  EXPECT_THAT(said_of("serve --share 2"), HasSubstr("--share must be a number from 0 to 1, found"));
  EXPECT_THAT(said_of("serve --seed -1"), HasSubstr("--seed must be a whole number of 0 or more"));
  EXPECT_THAT(said_of("serve --engine mesos"),
              HasSubstr("--engine must be machine or slurm, found \"mesos\""));
  EXPECT_EQ(said_of("serve --gpus 010 --share 1 --seed 7 --engine slurm"), "nothing");
}

TEST(Misuse, SaysThatAValueIsMissing) {
  EXPECT_EQ(said_of("serve --gpus"), "almanac: --gpus requires a value (see almanac serve --help)");
  EXPECT_EQ(said_of("--config"), "almanac: --config requires a value (see almanac --help)");
  EXPECT_EQ(said_of("serve more or less"),
            "almanac: unexpected argument: more or less (see almanac serve --help)");
}

TEST(Misuse, NamesTheOptionThatAnArgumentMeans) {
  EXPECT_THAT(said_of("serve gpus 3"),
              HasSubstr("unexpected argument: gpus (did you mean --gpus?"));
}

TEST(Misuse, NamesOptionsThatExcludeEachOther) {
  EXPECT_EQ(said_of("serve --gpus 1 --share 1 --cluster x"),
            "almanac: --gpus cannot be used with --cluster (see almanac serve --help)");
}

TEST(Misuse, RefusesAnEmptyValueExceptOfAComment) {
  // CLI11 drops empty words of a command line that is one string, and takes lists in reverse.
  const auto refused = [](std::vector<std::string> words) -> std::string {
    CLI::App app{"A program", "almanac"};
    CLI::App* const submit = app.add_subcommand("submit", "Give a job");
    std::string name, comment, word;
    submit->add_option("-J,--name", name, "A name");
    submit->add_option("--comment", comment, "A comment");
    submit->add_option("WORD", word, "A word");
    std::reverse(words.begin(), words.end());
    try {
      app.parse(words);
      refuse_empty_values(app);
    } catch (const CLI::ParseError& error) {
      return misuse(app, error);
    }
    return "nothing";
  };
  EXPECT_EQ(refused({"submit", "--name", ""}),
            "almanac: --name must not be empty (see almanac submit --help)");
  EXPECT_EQ(refused({"submit", "-J", ""}),
            "almanac: --name must not be empty (see almanac submit --help)");
  EXPECT_EQ(refused({"submit", "--name", "x", "--comment", "", ""}), "nothing");
}

TEST(Misuse, ShowsTheCommandsWhereOneIsToCome) {
  EXPECT_THAT(said_of(""), HasSubstr("submit"));
  EXPECT_THAT(said_of("slurm"), HasSubstr("Usage: almanac slurm"));
  EXPECT_THAT(said_of("slurm"), HasSubstr("doctor"));
  EXPECT_EQ(said_of("submit x"), "nothing");
}

}  // namespace
}  // namespace almanac::cli
