// SPDX-License-Identifier: Apache-2.0
#include "perf/measurement.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::perf {
namespace {

Profile read(const TemporaryFolder& folder, const std::string& name, const std::string& content) {
  const auto profile = read_profile(folder.write(name, content));
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : to_string(profile.error()));
  return profile.value_or(Profile{});
}

TEST(Profile, OwnCsv) {
  const TemporaryFolder folder;
  const Profile profile = read(folder, "lab.csv",
                               "model,gpus,nodes,gpu_type,batch,neighbour,throughput,cpus_per_gpu\n"
                               "ResNet-50,4,2,H100,256,,900.5,\n"
                               "mine,,,,,res18,7,3.5\n");
  EXPECT_EQ(profile.source, "own");
  ASSERT_EQ(profile.rows.size(), 2);
  const Measurement& first = profile.rows[0];
  EXPECT_EQ(first.model, "resnet-50");
  EXPECT_EQ(first.gpus, 4);
  EXPECT_EQ(first.nodes, 2);
  EXPECT_EQ(first.gpu_type, "H100");
  EXPECT_EQ(first.batch, 256);
  EXPECT_EQ(first.throughput, 900.5);
  EXPECT_TRUE(std::isnan(first.cpus_per_gpu));
  const Measurement& second = profile.rows[1];
  EXPECT_EQ(second.model, "mine");
  EXPECT_EQ(second.neighbour, "resnet-18");
  EXPECT_EQ(second.gpus, 1);
  EXPECT_EQ(second.cpus_per_gpu, 3.5);
}

TEST(Profile, OwnCsvOfTasks) {
  const TemporaryFolder folder;
  const Profile profile = read(folder, "lab.csv",
                               "model,task,batch,throughput,steps,seconds\n"
                               "mine,training,64,35,,\n"
                               "mine,inference,16,,1000,191.3\n"
                               "mine,,16,8,,\n");
  ASSERT_EQ(profile.rows.size(), 3);
  EXPECT_EQ(profile.rows[0].task, Measurement::Task::training);
  EXPECT_EQ(profile.rows[0].throughput, 35);
  EXPECT_TRUE(std::isnan(profile.rows[0].seconds));
  EXPECT_EQ(profile.rows[1].task, Measurement::Task::inference);
  EXPECT_EQ(profile.rows[1].steps, 1000);
  EXPECT_EQ(profile.rows[1].seconds, 191.3);
  EXPECT_EQ(profile.rows[2].task, Measurement::Task::not_said);
}

TEST(Profile, SaysWhatIsWrongWithATask) {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& row, const std::string& error) {
    const auto profile =
        read_profile(folder.write("t.csv", "model,task,throughput,steps,seconds\n" + row + "\n"));
    ASSERT_FALSE(profile.has_value()) << row;
    EXPECT_NE(to_string(profile.error()).find(error), std::string::npos)
        << to_string(profile.error());
  };
  says("m,train,1,,", "t.csv:2: task must be training or inference, found \"train\"");
  says("m,training,1,5,", "seconds must be a number");
  says("m,training,,,", "throughput must be a number");
}

TEST(Profile, SaysWhatIsWrongAndWhere) {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& content, const std::string& error) {
    const auto profile = read_profile(folder.write("p.csv", content));
    ASSERT_FALSE(profile.has_value()) << content;
    EXPECT_NE(to_string(profile.error()).find(error), std::string::npos)
        << to_string(profile.error());
  };
  says("a,b\n1,2\n", "p.csv:1: not a profile: column throughput is missing");
  says("model,throughput,gpu\nx,1,2\n", "p.csv:1: unknown column \"gpu\" (did you mean gpus?)");
  says("throughput\n1\n", "p.csv:1: column model is missing");
  says("model,throughput\nx,fast\n", "p.csv:2: throughput must be a number, 0 or more");
  says("model,throughput\nx,-1\n", "p.csv:2: throughput must be a number");
  says("model,throughput\nx,nan\n", "p.csv:2: throughput must be a number");
  says("model,throughput\n,1\n", "p.csv:2: model is empty");
  says("model,gpus,throughput\nx,1.5,1\n", "p.csv:2: gpus must be a whole number, found \"1.5\"");
  says("model,gpus,nodes,throughput\nx,2,4,1\n", "p.csv:2: 2 GPUs cannot be on 4 nodes");
  says("model,cpus_per_gpu,throughput\nx,0,1\n", "p.csv:2: cpus_per_gpu must be a number");
  says("model,throughput,throughput_low\nx,5,6\n",
       "p.csv:2: throughput_low must be a number, 0 to 5");
  says("model,throughput\nx,1e300\n", "x has a throughput of 1e+300 samples a second");
  says("{\"v100\": {\"('A3C', 1)\": {\"null\": 3, \"('A3C', 1)\": [-1, 2]}}}",
       "a3c has a throughput of -1 samples a second");
  says("model,throughput\n", "the file has no measurement");
  says("placement,local_bsz,step_time\n10,4,1\n",
       "p.csv:2: a placement is the number of GPUs on each node");
  says("{\"v100\": {\"ResNet\": {\"null\": 1}}}",
       "a job is written ('Model (batch size N)', GPUs)");
  says("{\"v100\": 3}", "expected throughputs in Gavel's format");
  says("{", "expected throughputs in Gavel's format");
  EXPECT_EQ(read_profile(folder / "none").error().code, Code::not_found);
}

TEST(Profile, IsWrittenAsItIsRead) {
  const TemporaryFolder folder;
  const Profile made{.source = "made",
                     .rows = {{.model = "a",
                               .batch = 16,
                               .gpu_type = "H100, 80 GB",
                               .gpus = 2,
                               .throughput = 10.25,
                               .low = 10,
                               .high = 10.5},
                              {.model = "a",
                               .cpus_per_gpu = 3,
                               .neighbour = "b",
                               .neighbour_batch = 4,
                               .throughput = 0}}};
  const std::string path = folder / "made.csv";
  ASSERT_TRUE(write_profile(made, path));
  const auto again = read_profile(path);
  ASSERT_TRUE(again) << to_string(again.error());
  ASSERT_EQ(again->rows.size(), 2);
  const Measurement& first = again->rows[0];
  EXPECT_EQ(first.gpu_type, "H100, 80 GB");
  EXPECT_EQ(first.batch, 16);
  EXPECT_EQ(first.gpus, 2);
  EXPECT_EQ(first.throughput, 10.25);
  EXPECT_EQ(first.low, 10);
  EXPECT_EQ(first.high, 10.5);
  EXPECT_TRUE(std::isnan(first.cpus_per_gpu));
  const Measurement& second = again->rows[1];
  EXPECT_EQ(second.cpus_per_gpu, 3);
  EXPECT_EQ(second.neighbour, "b");
  EXPECT_EQ(second.neighbour_batch, 4);
  EXPECT_EQ(second.throughput, 0);
  EXPECT_TRUE(std::isnan(second.low));
}

TEST(Profile, SynergyLeavesOutWhatWasNotAllowed) {
  const TemporaryFolder folder;
  const Profile profile = read(folder, "s.csv",
                               "model,gpus,cpus,mem_gb,norm_throughput\n"
                               "res18,2,3,62.5,1\nres18,2,24,62.5,0\n");
  ASSERT_EQ(profile.rows.size(), 1);
  EXPECT_EQ(profile.rows[0].model, "resnet-18");
  EXPECT_EQ(profile.rows[0].throughput, 2);  // of both GPUs
  EXPECT_EQ(profile.rows[0].cpus_per_gpu, 3);
}

TEST(Profile, AdaptdlByItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "imagenet");
  const Profile placed = read(folder, "imagenet/placements.csv",
                              "placement,local_bsz,step_time,sync_time\n112,20,0.5,0.1\n");
  ASSERT_EQ(placed.rows.size(), 1);
  EXPECT_EQ(placed.rows[0].model, "resnet-50");
  EXPECT_EQ(placed.rows[0].gpus, 4);
  EXPECT_EQ(placed.rows[0].nodes, 3);
  EXPECT_EQ(placed.rows[0].batch, 80);
  EXPECT_EQ(placed.rows[0].throughput, 160);
  const Profile scaled =
      read(folder, "imagenet/scalability.csv",
           "num_nodes,num_replicas,local_bsz,step_time,sync_time\n6,8,20,0.5,0.1\n");
  EXPECT_EQ(scaled.rows[0].gpus, 8);
  EXPECT_EQ(scaled.rows[0].nodes, 6);
}

TEST(Profile, RubickTakesTheFastestPlanThatRan) {
  const TemporaryFolder folder;
  const Profile profile = read(folder, "traces_gpt2_placements.csv",
                               "exec_plan,placement,iter_time\nga,44,2\nzero-dp,44,1.25\n"
                               "gc,44,0\nzero-offload,44,1\n");
  ASSERT_EQ(profile.rows.size(), 1);
  EXPECT_EQ(profile.rows[0].model, "gpt2");
  EXPECT_EQ(profile.rows[0].gpus, 8);
  EXPECT_EQ(profile.rows[0].throughput, 0.8);
}

TEST(Profile, GavelAloneAndInPairs) {
  const TemporaryFolder folder;
  const Profile profile =
      read(folder, "t.json",
           R"json({"v100": {"('LM (batch size 5)', 1)": {"null": 10, "('A3C', 1)": [4, 2.5]},
                        "('LM (batch size 5)', 2)": {"null": 18, "('LM (batch size 5)', 2)": [1, 1]}},
               "v100_unconsolidated": {"('LM (batch size 5)', 1)": {"null": 10},
                                       "('LM (batch size 5)', 2)": {"null": 12}}})json");
  ASSERT_EQ(profile.rows.size(), 4);
  EXPECT_EQ(profile.rows[0].throughput, 50);
  EXPECT_EQ(profile.rows[1].neighbour, "a3c");
  EXPECT_EQ(profile.rows[1].throughput, 20);
  EXPECT_EQ(profile.rows[2].batch, 10);
  EXPECT_EQ(profile.rows[2].throughput, 90);
  EXPECT_EQ(profile.rows[3].nodes, 2);
  EXPECT_EQ(profile.rows[3].throughput, 60);
}

}  // namespace
}  // namespace almanac::perf
