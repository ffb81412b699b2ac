// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac reproduce as a user calls it.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ReproduceCommand : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("ALMANAC_SHARED");
    std::filesystem::create_directories(folder_ / "golden/elastic/afs");
    std::ofstream(folder_ / "golden/elastic/afs/cases.json")
        << R"([{"total_gpus": 1, "allocation_rule": [1], "jobs": [)"
           R"({"submit": 0, "remaining_s": 10, "max_gpus": 1, "speedup": [1]}]}])";
  }
  TemporaryFolder folder_;
};

TEST_F(ReproduceCommand, ListsRecipes) {
  const ProgramRun run = run_program({"reproduce", "list", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json all = json::parse(run.out);
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all[0].contains("name") && all[0].contains("needs"));
}

TEST_F(ReproduceCommand, PrintsRowsOfFiveMembers) {
  const ProgramRun run = run_program({"reproduce", "afs", "--data", folder_ / "", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json rows = json::parse(run.out);
  ASSERT_EQ(rows.size(), 1U);
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows[0].items()) keys.push_back(key);
  EXPECT_THAT(keys,
              testing::UnorderedElementsAre("what", "published", "ours", "difference", "unit"));
  EXPECT_EQ(rows[0]["difference"], 0);
  const ProgramRun csv = run_program({"reproduce", "afs", "--data", folder_ / "", "-o", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("what,published,ours,difference,unit\n"));
}

TEST_F(ReproduceCommand, SaysWhatIsNeededWithoutData) {
  const ProgramRun run = run_program({"reproduce", "afs"});
  EXPECT_EQ(run.status, 66);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("afs needs golden/elastic/afs/*.json: "));
  EXPECT_THAT(run.err, HasSubstr("--data"));
}

TEST_F(ReproduceCommand, NamesWhatIsAbsentAndMalformed) {
  ProgramRun run = run_program({"reproduce", "ces", "--data", folder_ / "", "-o", "json"});
  EXPECT_EQ(run.status, 66);
  EXPECT_EQ(json::parse(run.out), json::array());
  EXPECT_THAT(run.err, HasSubstr("has no golden/ces/*_ces.csv"));
  std::ofstream(folder_ / "golden/elastic/afs/cases.json") << "[";
  run = run_program({"reproduce", "afs", "--data", folder_ / "", "-o", "json"});
  EXPECT_EQ(run.status, 65);
  EXPECT_EQ(json::parse(run.out), json::array());
}

TEST_F(ReproduceCommand, FindsTheConstantsOfSeriesWhateverTheirName) {
  std::filesystem::create_directories(folder_ / "golden/ces");
  std::ofstream(folder_ / "golden/ces/elsewhere_ces.csv")
      << "used,pred_floor,Active,total\n10,10,20,20\n10,10,20,20\n";
  const ProgramRun run = run_program({"reproduce", "ces", "--data", folder_ / "", "-o", "json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)[0]["published"], 2);
  EXPECT_THAT(run.err, HasSubstr("elsewhere_ces.csv is named after none of "));
}

TEST_F(ReproduceCommand, GuessesWhichRecipeWasMeant) {
  const ProgramRun run = run_program({"reproduce", "helios-simulater"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("did you mean helios-simulator?"));
}

}  // namespace
}  // namespace almanac
