// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference deploy as its user calls it.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class DeployCommand : public testing::Test {
 protected:
  ProgramRun run(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"inference", "deploy", services_, "--variants",
                                          variants_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  TemporaryFolder folder_;
  std::string services_ =
      folder_.write("services.csv", "task,rate,slo_ms,accuracy,rates\nimage,300,100,0.7,250 350\n");
  std::string variants_ =
      folder_.write("variants.csv",
                    "variant,task,accuracy,fixed_ms,item_ms,batch,memory_gib,knee,load_s,busy_w\n"
                    "large,image,0.8,0,10,16,2,,3,200\nsmall,image,0.75,0,1,64,1,0.5,1,100\n");
};

TEST_F(DeployCommand, SetsWhatPlannersChooseSideBySide) {
  const ProgramRun made =
      run({"--gpus", "8", "--beside", "1", "--gpu-hour", "2", "--idle-w", "50", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  std::map<std::string, json> all;
  for (const json& each : json::parse(made.out)) all[each["planner"]] = each;
  ASSERT_EQ(all.size(), 4);
  // The small variant answers 1,000 a second on half a GPU; of the large one it takes three GPUs.
  EXPECT_EQ(all["infaas"]["gpus"], 1);
  EXPECT_EQ(all["infaas"]["plan"][0]["variant"], "small");
  EXPECT_EQ(all["gslice"]["gpus"], 3);
  EXPECT_EQ(all["gslice"]["cost_per_h"], 6);
  EXPECT_EQ(all["gslice"]["accuracy"], 0.8);
  // Half of a GPU of 100 W for 300 of 1,000 requests, and what it draws idle.
  EXPECT_NEAR(all["infaas"]["watts"].get<double>(), 50 + 100 * 0.5 * 0.3, 1e-9);
  const ProgramRun table = run({"--planner", "clover", "--mig", "--gpus", "4"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("grams_per_h"));
  EXPECT_THAT(table.out, HasSubstr("variant"));
}

TEST_F(DeployCommand, SaysInALineWhatIsWrong) {
  EXPECT_THAT(run({"--planner", "clover"}).err, HasSubstr("give --mig"));
  EXPECT_THAT(run({"--planner", "clovr", "--mig"}).err, HasSubstr("did you mean clover?"));
  const ProgramRun few = run({"--planner", "gslice", "--gpus", "1"});
  EXPECT_EQ(few.status, 69);
  EXPECT_THAT(few.err, HasSubstr("1 GPUs do not answer 300 requests/s of image"));
  services_ = folder_.write("other.csv", "task,rate,slo_ms\nsound,1,1\n");
  const ProgramRun other = run({});
  EXPECT_EQ(other.status, 65);
  EXPECT_THAT(other.err, HasSubstr("other.csv:2: no variant does the task \"sound\""));
  variants_ = folder_.write("bad.csv",
                            "variant,task,accuracy,fixed_ms,item_ms,batch,memory_gib\n"
                            "one,sound,75,0,1,1,1\n");
  EXPECT_THAT(run({}).err,
              HasSubstr("bad.csv:2: accuracy: expected a number from 0 to 1, found \"75\""));
}

}  // namespace
}  // namespace almanac
