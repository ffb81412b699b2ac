// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference deploy as its user calls it.
#include <map>
#include <utility>

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
  ASSERT_EQ(all.size(), 12);
  // The small variant answers 1,000 a second on half a GPU; of the large one it takes three GPUs.
  EXPECT_EQ(all["infaas"]["gpus"], 1);
  EXPECT_EQ(all["infaas"]["plan"][0]["variant"], "small");
  EXPECT_EQ(all["gslice"]["gpus"], 3);
  EXPECT_EQ(all["gslice"]["cost_per_h"], 6);
  EXPECT_EQ(all["gslice"]["accuracy"], 0.8);
  EXPECT_TRUE(all["gslice"]["grams_per_h"].is_null()) << "no --carbon";
  // Half of a GPU of 100 W for 300 of 1,000 requests, and what it draws idle. A request takes 1 ms
  // in a batch of any size, so batches that are not full take no longer.
  EXPECT_NEAR(all["infaas"]["watts"].get<double>(), 50 + 100 * 0.5 * 0.3, 1);
  const ProgramRun table = run({"--planner", "clover", "--mig", "--gpus", "4"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("grams_per_h"));
  EXPECT_THAT(table.out, HasSubstr("variant"));
}

TEST_F(DeployCommand, PlaysEveryPlanAndTellsTurns) {
  // Of the small variant infaas has room for three times the rate; nexus fills GPUs, and a queue of
  // requests that come at random grows there.
  const ProgramRun made = run({"--gpus", "8", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  std::map<std::string, json> all;
  for (const json& each : json::parse(made.out)) all[each["planner"]] = each;
  EXPECT_GT(all["infaas"]["in_time"], 0.99);
  EXPECT_NEAR(all["nexus"]["capacity"].get<double>(), 1, 1e-6);
  EXPECT_LT(all["nexus"]["in_time"], 0.99);
  EXPECT_GT(all["nexus"]["plan"][0]["duty_ms"], 0);
  EXPECT_THAT(run({"--gpus", "8", "--planner", "nexus"}).out, HasSubstr("switch each, ms"));
}

TEST_F(DeployCommand, SaysWhichPlansMissTheirObjectiveAndCorrectsThem) {
  const ProgramRun made = run({"--gpus", "8", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  for (const json& each : json::parse(made.out)) {
    const std::string name = each["planner"];
    const bool meets = each["in_time"] >= 0.99;
    EXPECT_EQ(each["meets"], meets) << name;
    EXPECT_EQ(each.contains("corrected"), !meets) << name;
    const std::string missed = name + ": the plan as published serves ";
    EXPECT_EQ(made.err.find(missed) != std::string::npos, !meets) << name << made.err;
    if (meets) continue;
    const json& corrected = each["corrected"];
    EXPECT_GE(corrected["in_time"], 0.99) << name;
    EXPECT_GT(corrected["planned_rates"], 1) << name;
    EXPECT_GE(corrected["gpus"], each["gpus"]) << name;
  }
  // No plan serves all of what comes at random.
  const ProgramRun all = run({"--gpus", "4", "--planner", "gslice", "--share", "1"});
  EXPECT_THAT(all.err, HasSubstr("less than 100 %"));
}

TEST_F(DeployCommand, PlansAgainAsRatesChange) {
  // 300 requests a second for a minute, and 30 for two more.
  std::string log = "arrival_s,prompt_tokens,output_tokens\n";
  for (int each = 0; each < 18'000; ++each) log += std::to_string(each / 300.0) + ",1,1\n";
  for (int each = 0; each < 3600; ++each) log += std::to_string(60 + each / 30.0) + ",1,1\n";
  const std::string requests = folder_.write("requests.csv", log);
  const ProgramRun made = run({"--gpus", "8", "--beside", "1", "--planner", "cocktail",
                               "--requests", requests, "--replan", "60", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json row = json::parse(made.out)[0];
  // The large variant needs three GPUs for 300 a second, and one for 30 from 120 s on: at 60 s the
  // last rate is still 300, and at 120 s the line through 300 and 30 falls.
  EXPECT_NEAR(row["gpu_hours"].get<double>(), (3 * 120 + 1 * 60) / 3600.0, 1e-3);
  EXPECT_EQ(row["most_gpus"], 3);
  EXPECT_EQ(row["plans"], 2);
  EXPECT_EQ(row["loads"], 0);
  EXPECT_EQ(row["interrupted"], 0);
  EXPECT_THAT(run({"--requests", requests, "--seconds", "5"}).err, HasSubstr("--seconds"));
  const ProgramRun none = run({"--replan", "60"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--replan: expected less than the length of the replay"));
}

TEST_F(DeployCommand, PlansAllStagesOfAPipeline) {
  variants_ = folder_.write("stages.csv",
                            "variant,task,accuracy,fixed_ms,item_ms,batch,memory_gib\n"
                            "finder,car,0.8,2,2,16,2\nreader,plate,0.9,4,1,16,2\n");
  const auto asked = [&](const std::string& stage) {
    services_ = folder_.write("pipeline.csv",
                              "task,rate,slo_ms,accuracy,after,per_answer\n"
                              "car,100,200,0.5,,\n" +
                                  stage);
    return run({"--gpus", "4", "--planner", "inferline,nexus,mark", "-o", "json"});
  };
  const ProgramRun made = asked("plate,,,0.5,car,1.5\n");
  ASSERT_EQ(made.status, 0) << made.err;
  for (const json& each : json::parse(made.out)) {
    const json& best = each.contains("corrected") ? each["corrected"] : each;
    EXPECT_GE(best["in_time"], 0.99) << each["planner"];
    std::map<std::string, int> copies;
    for (const json& instance : best["plan"]) ++copies[instance["task"]];
    EXPECT_GE(copies["car"], 1) << each["planner"];
    EXPECT_GE(copies["plate"], 1) << each["planner"];
  }
  EXPECT_THAT(asked("plate,,,0.5,bus,1\n").err,
              HasSubstr("pipeline.csv:3: after: no earlier row has the task \"bus\""));
  EXPECT_THAT(asked("plate,5,,0.5,car,1\n").err,
              HasSubstr("rate: expected an empty cell for a stage after \"car\""));
  EXPECT_THAT(asked("plate,,,0.5,car,0\n").err, HasSubstr("per_answer: expected a number from"));
  services_ =
      folder_.write("root.csv", "task,rate,slo_ms,accuracy,per_answer\ncar,100,200,0.5,3\n");
  EXPECT_THAT(run({}).err, HasSubstr("root.csv:2: per_answer: expected an empty cell for \"car\""));
  asked("plate,,,0.5,car,1\n");
  const ProgramRun dispatched =
      run_program({"inference", "dispatch", services_, "--variants", variants_});
  EXPECT_THAT(dispatched.err, HasSubstr("plate is a stage after car"));
}

TEST_F(DeployCommand, CountsNoCarbonOfCleanPowerAndNothingOfUnknownPower) {
  const std::string clean = "carbon=" + folder_.write("carbon.csv", "time,value\n0,0\n");
  const auto figure = [&](std::vector<std::string> more, const char* name) {
    more.insert(more.end(), {"--gpus", "8", "--planner", "infaas", "-o", "json"});
    const ProgramRun made = run(more);
    EXPECT_EQ(made.status, 0) << made.err;
    return json::parse(made.out)[0][name];
  };
  EXPECT_EQ(figure({"--carbon", "0"}, "grams_per_h"), 0);
  EXPECT_TRUE(figure({}, "grams_per_h").is_null());
  EXPECT_EQ(figure({"--replan", "30", "--signal", clean}, "grams"), 0);
  EXPECT_TRUE(figure({"--replan", "30"}, "grams").is_null());
}

TEST_F(DeployCommand, DispatchesRequestsWithDeadlines) {
  const std::string answers = folder_.write(
      "answers.csv",
      "task,item,variant,label,right,confidence\nimage,1,large,cat,cat,0.9\n"
      "image,1,small,dog,cat,0.4\nimage,2,large,dog,dog,0.9\nimage,2,small,dog,dog,0.8\n");
  std::vector<std::string> asked{"inference", "dispatch", services_, "--variants", variants_,
                                 "--seconds", "5",        "--gpus",  "4",          "--answers",
                                 answers,     "-o",       "json"};
  const ProgramRun made = run_program(asked);
  ASSERT_EQ(made.status, 0) << made.err;
  std::map<std::string, json> all;
  for (const json& each : json::parse(made.out)) all[each["composition"]] = each;
  ASSERT_EQ(all.size(), 13U) << "eight dispatchers, and five choosers that use answers";
  EXPECT_EQ(all["shepherd"]["accuracy"], 1) << "the large variant is always right here";
  EXPECT_EQ(all["earliest_start+cascade"]["accuracy"], 1) << "the small one knows what it knows";
  EXPECT_LT(all["earliest_start+cascade"]["busy"], all["earliest_start"]["busy"]);
  asked.insert(asked.end(), {"--of", "sheperd+best"});
  EXPECT_THAT(run_program(asked).err, HasSubstr("did you mean shepherd?"));
  asked.back() = "space_time+nanily";
  EXPECT_THAT(run_program(asked).err,
              HasSubstr("space_time+nanily names two dispatchers, space_time and nanily"));
  asked.back() = "shepherd+exp3";
  asked.erase(asked.begin() + 9, asked.begin() + 11);
  EXPECT_THAT(run_program(asked).err, HasSubstr("give a table of answers with --answers"));
  asked = {"inference",          "dispatch", services_,   "--variants", variants_,
           "--answers",          answers,    "--seconds", "5",          "--of",
           "earliest_start+tabi"};
  EXPECT_EQ(run_program(asked).status, 0);
  folder_.write("answers.csv",
                "task,item,variant,label,right\nimage,1,large,cat,cat\nimage,1,small,dog,cat\n");
  const ProgramRun unsure = run_program(asked);
  EXPECT_EQ(unsure.status, 2);
  EXPECT_THAT(unsure.err, HasSubstr("tabi needs the confidence of the answers"));
  asked.back() = "all";
  EXPECT_EQ(run_program(asked).status, 0) << "what needs confidences is left out";
  folder_.write("answers.csv",
                "task,item,variant,label,right\nimage,1,large,cat,cat\nimage,1,huge,cat,cat\n");
  EXPECT_THAT(run_program({"inference", "dispatch", services_, "--variants", variants_, "--answers",
                           answers})
                  .err,
              HasSubstr("answers.csv:3: no variant of image is named \"huge\""));
}

TEST_F(DeployCommand, ComparesThePlannersOfAList) {
  const ProgramRun made = run({"--gpus", "8", "--planner", "gslice,mark", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json rows = json::parse(made.out);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0]["planner"], "gslice");
  EXPECT_EQ(rows[1]["planner"], "mark");
}

TEST_F(DeployCommand, CountsTheEnergyOfTheBatchesThatForm) {
  // Each batch takes 10 ms whatever its size, apart from a negligible part. At 20 requests a
  // second, batches are nearly all of one request: the GPU computes 0.2 of the time, less where two
  // wait.
  services_ = folder_.write("sparse.csv", "task,rate,slo_ms\nimage,20,100\n");
  variants_ = folder_.write("fixed.csv",
                            "variant,task,accuracy,fixed_ms,item_ms,batch,memory_gib,busy_w\n"
                            "one,image,0.8,10,0.001,4,2,100\n");
  const ProgramRun made = run({"--planner", "gslice", "--seconds", "300", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json row = json::parse(made.out)[0];
  const double share = row["plan"][0]["share"];
  EXPECT_GT(row["watts"].get<double>(), 100 * 0.2 * 0.8) << "full batches would need 5 W";
  EXPECT_LT(row["watts"].get<double>(), 100 * 0.2 * 1.1) << share;
}

TEST_F(DeployCommand, SaysInALineWhatIsWrong) {
  const std::string good = std::exchange(
      variants_, folder_.write("half.csv",
                               "variant,task,accuracy,fixed_ms,item_ms,batch,memory_gib\n"
                               "large,image,0.8,0,10,1.5,2\n"));
  EXPECT_THAT(run({}).err, HasSubstr("half.csv:2: batch: expected a whole number from 1 to"));
  variants_ = folder_.write("again.csv",
                            "variant,task,accuracy,fixed_ms,item_ms,batch,memory_gib\n"
                            "large,image,0.8,0,10,1,2\nlarge,image,0.9,0,10,1,2\n");
  EXPECT_THAT(run({}).err,
              HasSubstr("again.csv:3: variant \"large\" of task \"image\" is in two rows"));
  variants_ = good;
  const std::string one = std::exchange(
      services_, folder_.write("twice.csv", "task,rate,slo_ms\nimage,1,100\nimage,2,100\n"));
  EXPECT_THAT(run({}).err, HasSubstr("twice.csv:3: task \"image\" is in two rows"));
  services_ = folder_.write("none.csv", "task,rate,slo_ms\n");
  EXPECT_THAT(run({}).err, HasSubstr("has no services"));
  services_ = one;
  EXPECT_THAT(run({"--planner", "clover"}).err, HasSubstr("add --mig"));
  EXPECT_THAT(run({"--planner", "clovr", "--mig"}).err, HasSubstr("did you mean clover?"));
  const ProgramRun few = run({"--planner", "gslice", "--gpus", "1"});
  EXPECT_EQ(few.status, 69);
  EXPECT_THAT(few.err, HasSubstr("1 GPU cannot answer 300 requests/s of image"));
  EXPECT_THAT(run({"--memory", "0.5"}).err,
              HasSubstr("fits into 0.5 GiB, the memory of a GPU: small needs 1 (raise --memory"));
  const std::string busy = folder_.write("busy.csv", "task,rate,slo_ms\nimage,1e9,100\n");
  for (const char* command : {"deploy", "dispatch"}) {
    const ProgramRun flood =
        run_program({"inference", command, busy, "--variants", variants_, "--seconds", "2"});
    EXPECT_EQ(flood.status, 2);
    EXPECT_THAT(flood.err, HasSubstr("too many requests: about 2e+09 in 2 s, expected at most 10 "
                                     "million (lower the column rate"));
  }
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
