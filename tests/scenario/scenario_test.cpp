// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays every scenario of this folder and compares the schedule with the one written by hand.
#include "support/scenario.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace almanac {
namespace {

namespace fs = std::filesystem;

std::string scenario_folder() {
  const char* source = std::getenv("ALMANAC_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/scenario";
}

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(scenario_folder())) {
    if (entry.path().extension() == ".scenario") {
      files.push_back(fs::relative(entry.path(), scenario_folder()).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class ScenarioFile : public testing::TestWithParam<std::string> {
 protected:
  static Result<Scenario> load() {
    const std::string path = scenario_folder() + "/" + GetParam();
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return parse_scenario(text.str(), path);
  }
};

TEST_P(ScenarioFile, IsNamedAfterItsFile) {
  const Result<Scenario> scenario = load();
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  EXPECT_EQ(scenario->name + ".scenario", GetParam());
}

TEST_P(ScenarioFile, GivesTheScheduleWrittenByHand) {
  Result<Scenario> scenario = load();
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  for (const std::string& policy : scenario->policies) {
    scenario->input.policy = policy;
    const Result<Played> played = play(scenario->input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(expected_timeline(*scenario), actual_timeline(*scenario, *played))
        << GetParam() << " under " << policy << ": " << scenario->description;
    EXPECT_EQ(played->faults, std::vector<std::string>{});
  }
}

TEST_P(ScenarioFile, ExplainsWhyJobsWait) {
  Result<Scenario> scenario = load();
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  std::set<JobId> watched;
  for (const ExpectedWait& wait : scenario->waits) watched.insert(wait.job);
  for (const JobId job : watched) {
    std::string expected;
    for (const ExpectedWait& wait : scenario->waits) {
      if (wait.job == job) expected += wait.text + "\n";
    }
    scenario->input.options.watch.job = job;
    for (const std::string& policy : scenario->policies) {
      scenario->input.policy = policy;
      const Result<Played> played = play(scenario->input);
      ASSERT_TRUE(played) << to_string(played.error());
      EXPECT_EQ(expected, actual_waits(*scenario, played->result))
          << GetParam() << " under " << policy << ", job number " << index(job);
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param.substr(0, test.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioFile, testing::ValuesIn(scenario_files()), test_name);

}  // namespace
}  // namespace almanac
