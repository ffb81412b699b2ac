// SPDX-License-Identifier: Apache-2.0

/// \file
/// What newcomers get wrong: values of almanac.toml, options of the service, names of scripts.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class NewcomerCommand : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(NewcomerCommand, RefusesAWrongValueOfAlmanacTomlWithItsLine) {
  const std::string wrong = folder_.write("wrong.toml", "[serve]\n\npolicy = \"qsff\"\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"config", "show"}, {"policy", "list"}, {"queue"}}) {
    std::vector<std::string> words{"--config", wrong};
    words.insert(words.end(), command.begin(), command.end());
    const ProgramRun refused = run_program(words);
    EXPECT_EQ(refused.status, 65);
    EXPECT_THAT(refused.err, HasSubstr("wrong.toml:3:10: serve.policy: no policy is named qsff"));
  }
}

TEST_F(NewcomerCommand, ShowsTheDefaultsOfAlmanacToml) {
  const ProgramRun shown =
      run_program({"--config", folder_.write("empty.toml", ""), "config", "show", "-o", "json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  std::map<std::string, std::string> values;
  for (const json& each : json::parse(shown.out)) values[each["setting"]] = each["value"];
  EXPECT_EQ(values["machine.max_grace"], "15:00");
  EXPECT_EQ(values["machine.requeue_for"], "24:00:00");
  EXPECT_EQ(values["slurm.way"], "gateway if it is installed, else commands");
  EXPECT_THAT(values["serve.policy"], HasSubstr("almanac"));
  EXPECT_EQ(values["agent.secret"], "/etc/almanac/agent.secret");
}

TEST_F(NewcomerCommand, LeavesNoStateOfAServiceThatCannotStart) {
  const std::string state = folder_ / "state";
  EXPECT_EQ(run_program({"serve", "--state", state, "--policy", "qsff"}).status, 2);
  EXPECT_EQ(run_program({"serve", "--state", state, "--shadow", "qsff"}).status, 2);
  EXPECT_EQ(run_program({"serve", "--state", state, "--policy", folder_ / "none.toml"}).status, 66);
  EXPECT_EQ(run_program({"serve", "--state", state, "--limits", folder_ / "none.toml"}).status, 66);
  EXPECT_EQ(run_program({"serve", "--state", state, "--max-grace", "9 years"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(state));
}

TEST_F(NewcomerCommand, SaysThatAScriptIsMissing) {
  folder_.write("train.sh", "#!/bin/sh\n");
  const std::string wrong = folder_ / "trian.sh";
  const ProgramRun refused = run_program({"submit", "--dry-run", wrong});
  EXPECT_EQ(refused.status, 66);
  EXPECT_EQ(refused.err,
            fmt::format("almanac: {0}: there is no such script (did you mean train.sh?; "
                        "to run a command, put it after --: almanac submit -- {0} ...)\n",
                        wrong));
}

}  // namespace
}  // namespace almanac
