// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/value_check.h"
#include "machine/limits.h"
#include "service/idle.h"
#include "support/temporary_folder.h"

namespace almanac::cli {
namespace {

using testing::HasSubstr;

class Config : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }
  /// What is wrong with a file of this text.
  std::string error_of(const std::string& text) {
    Configuration made;
    const auto read = made.read(file("almanac.toml", text));
    return read ? "nothing" : to_string(read.error());
  }

  TemporaryFolder folder_;
};

/// A command `simulate` with some of its options, and what they are set to.
struct Simulate {
  std::string output = "table";
  std::string policy = "quick";
  std::string cluster;
  CLI::App app{"A program", "almanac"};
  CLI::App* command = app.add_subcommand("simulate");

  Simulate() {
    command->add_option("-o,--output", output)
        ->check(one_of({"table", "json"}))
        ->capture_default_str();
    command->add_option("--policy", policy)->capture_default_str();
    command->add_option("--cluster", cluster);
  }
};

TEST_F(Config, ALaterFileOverridesAnEarlierOne) {
  Configuration made;
  ASSERT_TRUE(made.read(
      file("machine.toml", "[policy]\npolicies = \"fifo\"\n[output]\nformat = \"json\"\n")));
  ASSERT_TRUE(made.read(file("user.toml", "[policy]\npolicies = [\"easy\", \"las\"]\n")));
  Simulate simulate;
  ASSERT_TRUE(apply_configuration(made, *simulate.command));
  EXPECT_EQ(simulate.policy, "easy,las");
  EXPECT_EQ(simulate.output, "json");
}

TEST_F(Config, AnErrorAboutAValueNamesItsLine) {
  Configuration made;
  const std::string path = file("user.toml", "[policy]\n\n[cluster]\nfile = \"none.toml\"\n");
  ASSERT_TRUE(made.read(path));
  Simulate simulate;
  const Error missing{Code::not_found, "cannot open the file", {.file = "none.toml"}, ""};
  EXPECT_EQ(to_string(naming_its_setting(missing, made, *simulate.command)),
            "none.toml: cannot open the file (cluster.file in " + path + ":4)");
  const Error other{Code::not_found, "cannot open the file", {.file = "other.toml"}, ""};
  EXPECT_EQ(to_string(naming_its_setting(other, made, *simulate.command)), to_string(other));
  simulate.app.parse("simulate --cluster none.toml");
  EXPECT_EQ(to_string(naming_its_setting(missing, made, *simulate.command)), to_string(missing))
      << "the command line gave it";
}

TEST_F(Config, SaysThatTextsNeedQuotes) {
  EXPECT_THAT(error_of("[output]\nformat = wide\n"),
              HasSubstr("almanac.toml:2:10: a value must be a number, true, false, a date, a list "
                        "or a text in quotes"));
}

TEST_F(Config, TakesTrueForNoTextThatHasOtherWords) {
  CLI::App app{"A program", "almanac"};
  CLI::App* const serve = app.add_subcommand("serve");
  std::string order;
  std::string policy;
  serve->add_option("--order", order)->check(one_of({"off", "dry", "on"}));
  serve->add_option("--policy", policy);
  const auto problem = [&](const std::string& text) {
    Configuration made;
    const auto read = made.read(file("almanac.toml", text));
    return read ? to_string(made.check(app).error()) : to_string(read.error());
  };
  EXPECT_THAT(problem("[slurm]\norder = true\n"),
              HasSubstr("almanac.toml:2:9: slurm.order must be off, dry or on, found \"true\""));
  EXPECT_THAT(problem("[serve]\npolicy = true\n"),
              HasSubstr("serve.policy must be a text in quotes, a number or a list, found true"));
}

TEST_F(Config, AnOptionOverridesFiles) {
  Configuration made;
  ASSERT_TRUE(made.read(file("user.toml", "[policy]\npolicies = \"fifo\"\n")));
  Simulate simulate;
  simulate.app.parse("simulate --policy las");
  ASSERT_TRUE(apply_configuration(made, *simulate.command));
  EXPECT_EQ(simulate.policy, "las");
}

TEST_F(Config, TheEnvironmentOverridesFilesForTheConnection) {
  Configuration made;
  ASSERT_TRUE(made.read(
      file("user.toml", "[connection]\nurl = \"https://gpu:8443\"\ntoken = \"of the file\"\n")));
  ::unsetenv("ALMANAC_SOCKET");
  ::unsetenv("ALMANAC_TOKEN");
  EXPECT_EQ(place_in_force({}, made).url, "https://gpu:8443");
  EXPECT_EQ(place_in_force({}, made).token, "of the file");
  ::setenv("ALMANAC_TOKEN", "of the environment", 1);
  EXPECT_EQ(place_in_force({}, made).token, "of the environment");
  ::unsetenv("ALMANAC_TOKEN");
  ::setenv("ALMANAC_SOCKET", "/run/demo.sock", 1);
  EXPECT_EQ(place_in_force({}, made).socket, "/run/demo.sock");
  EXPECT_EQ(place_in_force({}, made).url, "");
  ::unsetenv("ALMANAC_SOCKET");
  EXPECT_EQ(place_in_force({.socket = "/run/own.sock"}, made).url, "");
}

TEST_F(Config, TheSocketOfALaterFileReplacesAUrl) {
  Configuration made;
  ASSERT_TRUE(made.read(file("machine.toml", "[connection]\nurl = \"https://gpu:8443\"\n")));
  ASSERT_TRUE(made.read(file("user.toml", "[connection]\nsocket = \"/run/own.sock\"\n")));
  EXPECT_EQ(place_in_force({}, made).socket, "/run/own.sock");
  EXPECT_EQ(place_in_force({}, made).url, "");
  EXPECT_THAT(error_of("[connection]\nurl = \"https://gpu:8443\"\nsocket = \"x\"\n"),
              HasSubstr("two places"));
}

TEST_F(Config, RelativePathsStartAtTheFile) {
  const std::string cluster = file("cluster.toml", "");
  Configuration made;
  ASSERT_TRUE(made.read(file("almanac.toml", "[cluster]\nfile = \"cluster.toml\"\n")));
  Simulate simulate;
  ASSERT_TRUE(apply_configuration(made, *simulate.command));
  EXPECT_EQ(simulate.cluster, cluster);
  ASSERT_TRUE(made.read(file("almanac.toml", "[cluster]\nfile = \"20x8\"\n")));
  Simulate other;
  ASSERT_TRUE(apply_configuration(made, *other.command));
  EXPECT_EQ(other.cluster, "20x8") << "no file of that name is there";
}

TEST_F(Config, AnUnknownKeyIsNamedWithItsLineAndTheNearestKey) {
  EXPECT_THAT(error_of("[connection]\n\ntokn = \"alm\"\n"),
              testing::AllOf(HasSubstr("almanac.toml:3"), HasSubstr("unknown key tokn"),
                             HasSubstr("did you mean token?")));
  EXPECT_THAT(error_of("[conection]\nurl = \"x\"\n"), HasSubstr("did you mean connection?"));
}

TEST_F(Config, AnEmptyFileIsValid) {
  EXPECT_EQ(error_of(""), "nothing");
  EXPECT_EQ(error_of("# nothing yet\n"), "nothing");
}

TEST_F(Config, AValueThatNoOptionTakesIsNamedWithItsLine) {
  Configuration made;
  ASSERT_TRUE(made.read(file("user.toml", "[output]\nformat = \"yaml\"\n")));
  Simulate simulate;
  const auto checked = made.check(simulate.app);
  ASSERT_FALSE(checked);
  EXPECT_THAT(to_string(checked.error()),
              testing::AllOf(HasSubstr("user.toml:2"),
                             HasSubstr("output.format must be table or json, found \"yaml\"")));
}

TEST_F(Config, ACommandWithoutTheFormOfListsKeepsItsOwn) {
  Configuration made;
  ASSERT_TRUE(made.read(file("user.toml", "[output]\nformat = \"wide\"\n")));
  Simulate simulate;
  CLI::App* const queue = simulate.app.add_subcommand("queue");
  std::string form = "table";
  queue->add_option("--output", form)->check(one_of({"table", "wide"}))->capture_default_str();
  EXPECT_TRUE(made.check(simulate.app));
  EXPECT_TRUE(apply_configuration(made, *simulate.command));
  EXPECT_EQ(simulate.output, "table");
  EXPECT_TRUE(apply_configuration(made, *queue));
  EXPECT_EQ(form, "wide");
}

TEST_F(Config, AValueOfAWrongTypeIsNamedWithItsLine) {
  EXPECT_THAT(error_of("[serve]\nstate = 5\n"), HasSubstr(":2:9: serve.state must be a path"));
  EXPECT_THAT(error_of("[serve]\nengine = 2026-01-01\n"),
              HasSubstr(":2:10: serve.engine must be a text, a number or a list of texts"));
  EXPECT_THAT(error_of("[machine]\nidle = 5\n"),
              HasSubstr(":2:8: machine.idle must be a table, or the path of a file"));
}

TEST_F(Config, HoldsTheTablesOfTheServiceOrNamesTheirFiles) {
  Configuration made;
  const std::string path = file("almanac.toml",
                                "[machine]\nhooks = \"hooks.toml\"\n"
                                "[machine.limits.user]\njobs = 7\n"
                                "[machine.idle]\nmode = \"notify\"\n");
  ASSERT_TRUE(made.read(path));
  CLI::App app{"A program", "almanac"};
  CLI::App* const serve = app.add_subcommand("serve");
  std::string limits, idle, hooks;
  serve->add_option("--limits", limits);
  serve->add_option("--idle", idle);
  serve->add_option("--hooks", hooks);
  ASSERT_TRUE(apply_configuration(made, *serve));
  EXPECT_EQ(machine::read_limits(limits)->user.jobs, 7);
  EXPECT_EQ(service::read_idle_rule(idle)->mode, service::IdleMode::notify);
  EXPECT_EQ(hooks, folder_ / "hooks.toml");
}

TEST_F(Config, AWrongKeyInATableOfTheServiceIsNamedWithItsLine) {
  EXPECT_THAT(error_of("[machine.limits.user]\njob = 7\n"),
              testing::AllOf(HasSubstr("almanac.toml:2"), HasSubstr("did you mean jobs?")));
  EXPECT_THAT(error_of("[slurm.levers.levers]\norder = \"yes\"\n"),
              testing::AllOf(HasSubstr("almanac.toml:2"), HasSubstr("order must be \"off\"")));
}

TEST_F(Config, TheAgentTakesItsSection) {
  Configuration made;
  ASSERT_TRUE(made.read(file("almanac.toml", "[agent]\ndaemon = \"head:8318\"\n")));
  CLI::App app{"A program", "almanac"};
  CLI::App* const agent = app.add_subcommand("agent");
  std::string daemon;
  agent->add_option("--daemon", daemon)->check(host_and_port());
  EXPECT_TRUE(made.check(app));
  ASSERT_TRUE(apply_configuration(made, *agent));
  EXPECT_EQ(daemon, "head:8318");
  ASSERT_TRUE(made.read(file("wrong.toml", "[agent]\ndaemon = \"head\"\n")));
  EXPECT_THAT(to_string(made.check(app).error()),
              HasSubstr("wrong.toml:2:10: agent.daemon must be HOST:PORT, with a PORT from 0 to "
                        "65535, found \"head\""));
}

TEST_F(Config, ServeTakesTheSettingsOfItsEngine) {
  Configuration made;
  ASSERT_TRUE(made.read(file(
      "almanac.toml",
      "[serve]\nengine = \"slurm\"\n[machine]\nmax_grace = \"5m\"\n[slurm]\norder = \"dry\"\n")));
  CLI::App app{"A program", "almanac"};
  CLI::App* const serve = app.add_subcommand("serve");
  std::string engine = "machine";
  std::string grace;
  std::string order;
  serve->add_option("--max-grace", grace);
  serve->add_option("--engine", engine)->capture_default_str();
  serve->add_option("--order", order);
  ASSERT_TRUE(apply_configuration(made, *serve));
  EXPECT_EQ(engine, "slurm");
  EXPECT_EQ(grace, "");
  EXPECT_EQ(order, "dry");
}

}  // namespace
}  // namespace almanac::cli
