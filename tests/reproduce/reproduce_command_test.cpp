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

TEST_F(ReproduceCommand, PrintsTheSameFieldsAsTableCsvAndJson) {
  const ProgramRun run = run_program({"reproduce", "afs", "--data", folder_ / "", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json rows = json::parse(run.out);
  ASSERT_EQ(rows.size(), 1U);
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows[0].items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::UnorderedElementsAre("what", "published", "ours", "difference", "unit",
                                                  "kind", "remark"));
  EXPECT_EQ(rows[0]["kind"], "second");
  EXPECT_EQ(rows[0]["difference"], 0);
  const ProgramRun csv = run_program({"reproduce", "afs", "--data", folder_ / "", "-o", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("what,published,ours,difference,unit,kind,remark\n"));
  const ProgramRun table = run_program({"reproduce", "afs", "--data", folder_ / ""});
  EXPECT_THAT(table.out, testing::StartsWith("afs: published: a second implementation\n"));
}

// Job 4000 is published, and the stream has two jobs.
TEST_F(ReproduceCommand, AStreamThatOutrunsItsJobsSaysSoInItsRow) {
  folder_.write("data/elastic/gavel/simulation_alone.csv",
                "gpu_type,model,batch_size,scale_factor,steps_per_s\n"
                "k80,A3C,,1,1\np100,A3C,,1,2\nv100,A3C,,1,3\n");
  folder_.write("data/elastic/gavel/continuous_single_gpu_seed0.csv",
                "job,model,batch_size,scale_factor,total_steps,gap_to_next_unit\n"
                "0,A3C,,1,100,1\n1,A3C,,1,100,1\n");
  folder_.write("golden/elastic/gavel/continuous_fifo_seed0_4.0_per_hour.csv",
                "job,arrival_s,jct_s\n0,0,33\n4000,0,33\n");
  const ProgramRun run = run_program({"reproduce", "gavel", "--data", folder_ / "", "-o", "json"});
  const json rows = json::parse(run.out);
  ASSERT_EQ(rows.size(), 2U) << run.err;
  EXPECT_EQ(rows[1]["ours"], nullptr);
  const std::string remark = rows[1].value("remark", "");
  EXPECT_THAT(remark, HasSubstr("no result: "));
  EXPECT_THAT(remark, HasSubstr("the 2 jobs of the stream have all come before jobs 4000 to 4999"));
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
