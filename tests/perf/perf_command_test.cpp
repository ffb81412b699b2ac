// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands on speed models as a user calls them.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

// Alone 100 samples/s on one GPU; two GPUs 160, spread 100. Beside a copy of itself it makes 50, so
// it suffers and causes 1. Four cores are enough, and one feeds a quarter.
constexpr const char* kProfile =
    "model,batch,gpu_type,gpus,nodes,cpus_per_gpu,neighbour,neighbour_batch,throughput\n"
    "tiny,10,H100,1,1,,,,100\n"
    "tiny,20,H100,2,1,,,,160\n"
    "tiny,20,H100,2,2,,,,100\n"
    "tiny,10,H100,1,1,,tiny,10,50\n"
    "tiny,10,H100,1,1,1,,,25\n"
    "tiny,10,H100,1,1,2,,,50\n"
    "tiny,10,H100,1,1,4,,,100\n"
    "tiny,10,H100,1,1,8,,,100\n";

TEST(Perf, FitsAndShowsAProfileByHand) {
  const TemporaryFolder folder;
  const auto fit = run_program({"perf", "fit", folder.write("lab.csv", kProfile), "--out",
                                folder / "lab.toml", "-o", "json"});
  ASSERT_EQ(fit.status, 0) << fit.err;
  const auto fitted = nlohmann::json::parse(fit.out);
  EXPECT_NEAR(fitted["inputs"][0]["enough_cpus"], 4, 1e-3);
  EXPECT_NEAR(fitted["inputs"][0]["error"], 0, 1e-6);
  EXPECT_NEAR(fitted["sharing"][0]["error"], 0, 1e-5);
  EXPECT_TRUE(fitted["inputs"][0]["nearest"].is_null());  // there is no other model

  const auto show =
      run_program({"perf", "show", "tiny", "--models", folder / "lab.toml", "-o", "json"});
  ASSERT_EQ(show.status, 0) << show.err;
  const auto shown = nlohmann::json::parse(show.out);
  EXPECT_NEAR(shown["input"]["cpus"][0]["rate"], 0.25, 1e-3);
  const auto& board = shown["boards"][0];
  EXPECT_NEAR(board["step_s"], 0.1, 1e-4);
  EXPECT_NEAR(board["placements"][0]["rate"], 1.6, 1e-3);
  EXPECT_NEAR(board["beside"][0]["rate"], 0.5, 1e-3);
}

// One GPU does 40 b / (b + 3); of two on a node 0.4 are lost, of two nodes' 0.5; it starts for 30
// s.
TEST(Perf, FitsAndShowsTasks) {
  const TemporaryFolder folder;
  const auto fit =
      run_program({"perf", "fit",
                   folder.write("lab.csv",
                                "model,task,batch,gpus,nodes,throughput,steps,seconds\n"
                                "mine,training,1,1,1,10,,\n"
                                "mine,training,5,1,1,25,,\n"
                                "mine,training,17,1,1,34,,\n"
                                "mine,training,10,2,1,40,,\n"
                                "mine,training,10,2,2,37.5,,\n"
                                "mine,training,1,1,1,,100,40\n"
                                "mine,training,1,1,1,,200,50\n"),
                   "--out", folder / "lab.toml", "-o", "json"});
  ASSERT_EQ(fit.status, 0) << fit.err;
  const auto task = nlohmann::json::parse(fit.out)["tasks"][0];
  EXPECT_NEAR(task["a"], 40, 1e-3);
  EXPECT_NEAR(task["c"], 3, 1e-3);
  EXPECT_NEAR(task["gamma"], 0.5, 1e-4);
  EXPECT_NEAR(task["lambda"], 0.8, 1e-3);
  const auto show =
      run_program({"perf", "show", "mine", "--models", folder / "lab.toml", "-o", "json"});
  ASSERT_EQ(show.status, 0) << show.err;
  const auto shown = nlohmann::json::parse(show.out)["training"];
  EXPECT_EQ(shown["batch"], 17);
  EXPECT_NEAR(shown["shapes"][0]["samples_per_s"], 34, 1e-2);
}

TEST(Perf, ListsModelsAndFindsThemInJobNames) {
  const auto list = run_program({"perf", "show"});
  ASSERT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find("resnet-50"), std::string::npos) << list.out;
  const auto found = run_program({"perf", "show", "train_ResNet50_v3"});
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.err, "almanac: note: train_ResNet50_v3: matched by name to resnet-50\n");
  EXPECT_NE(found.out.find("cores are enough"), std::string::npos) << found.out;
  EXPECT_EQ(nlohmann::json::parse(run_program({"perf", "show", "-o", "json"}).out).size(), 23);
}

TEST(Perf, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto missing = run_program({"perf", "fit", folder / "none.csv"});
  EXPECT_EQ(missing.status, 66) << missing.err;
  const auto bad = run_program({"perf", "fit", folder.write("b.csv", "model,throughput\nx,-1\n")});
  EXPECT_EQ(bad.status, 65) << bad.err;
  EXPECT_NE(bad.err.find("b.csv:2: throughput must be a number, 0 or more"), std::string::npos);
  EXPECT_EQ(run_program({"perf", "show", "zzz"}).status, 66);
  EXPECT_EQ(run_program({"perf", "show", "--models", "publik"}).status, 2);
}

}  // namespace
}  // namespace almanac
