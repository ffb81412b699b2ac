// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference size --emit: what its tools demand of the files.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"

namespace almanac {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

/// The paths of the keys of YAML in block style: "spec.containers.name". Lists have no number.
std::set<std::string> keys(const std::string& yaml) {
  std::set<std::string> made;
  std::vector<std::pair<std::size_t, std::string>> above;  // by column
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t column = line.find_first_not_of(" -");
    const std::size_t end = line.find(':');
    if (line.starts_with('#') || line[column] == '\'' || end == std::string::npos) continue;
    while (!above.empty() && above.back().first >= column) above.pop_back();
    const std::string name = line.substr(column, end - column);
    above.emplace_back(column, above.empty() ? name : above.back().second + "." + name);
    made.insert(above.back().second);
  }
  return made;
}

class Emit : public testing::Test {
 protected:
  ProgramRun run(const std::string& format, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"inference", "size", requests_, "--ttft", "1s", "--confidence", "0",
                               "--sequences", "64", "--emit", format});
    if (std::find(more.begin(), more.end(), "--model") == more.end()) {
      more.insert(more.end(), {"--model", "llama-3.1-8b"});
    }
    return run_program(more);
  }
  std::string text(const std::string& format, const std::vector<std::string>& more = {}) {
    const ProgramRun made = run(format, more);
    EXPECT_EQ(made.status, 0) << made.err;
    return made.out;
  }

  /// Attention on each of four GPUs for requests of its own.
  const std::vector<std::string> own_attention_{"--model", "mixtral-8x7b", "--gpus", "4",
                                                "--data-parallel-attention"};
  TemporaryFolder folder_;
  std::string requests_ = folder_.write(
      "requests.csv", "arrival_s,prompt_tokens,output_tokens\n0,1000,20\n1,1000,20\n2,1000,20\n");
};

TEST_F(Emit, FlagsOfEnginesAreTheFleet) {
  EXPECT_THAT(text("vllm", {"--gpus", "2"}), HasSubstr("vllm serve meta-llama/llama-3.1-8b \\\n"
                                                       "  --tensor-parallel-size=2 \\\n"
                                                       "  --max-num-seqs=64 \\\n"
                                                       "  --max-num-batched-tokens=2048 \\\n"));
  EXPECT_THAT(text("sglang"),
              AllOf(HasSubstr("sglang.launch_server --model-path=meta-llama/llama-3.1-8b"),
                    HasSubstr("--max-running-requests=64"), HasSubstr("--disable-radix-cache")));
}

TEST_F(Emit, LimitsOfVllmAreThoseOfARank) {
  std::vector<std::string> more = own_attention_;
  more.insert(more.end(), {"--kv-blocks", "1003"});
  // 64 sequences, 2,048 tokens and 1,003 blocks of a replica, on four GPUs.
  for (const char* format : {"vllm", "llm-d", "dynamo", "kserve"}) {
    EXPECT_THAT(text(format, more),
                AllOf(HasSubstr("--max-num-seqs=16"), HasSubstr("--max-num-batched-tokens=512"),
                      HasSubstr("--num-gpu-blocks-override=250")))
        << format;
  }
  // SGLang divides by itself.
  EXPECT_THAT(text("sglang", more), AllOf(HasSubstr("--max-running-requests=64"),
                                          HasSubstr("--chunked-prefill-size=2048")));
}

TEST_F(Emit, SaysThatGpusHaveWholeExperts) {
  const std::vector<std::string> divided{"--model", "mixtral-8x7b", "--gpus", "4"};
  std::vector<std::string> whole = divided;
  whole.emplace_back("--expert-parallel");
  const std::map<std::string, std::string> flags{{"vllm", "--enable-expert-parallel"},
                                                 {"sglang", "--expert-parallel-size=4"},
                                                 {"llm-d", "--enable-expert-parallel"},
                                                 {"dynamo", "--enable-expert-parallel"},
                                                 {"kserve", "    expert: true\n"}};
  for (const auto& [format, flag] : flags) {
    EXPECT_THAT(text(format, whole), HasSubstr(flag)) << format;
    EXPECT_THAT(text(format, own_attention_), HasSubstr(flag)) << format;
    EXPECT_THAT(text(format, divided), Not(HasSubstr(flag))) << format;
  }
}

TEST_F(Emit, LlmDHasAnImageAndRoomForTheModel) {
  const std::string made = text("llm-d", {"--gpus", "2"});
  EXPECT_THAT(keys(made),
              IsSupersetOf({"modelArtifacts.name", "modelArtifacts.uri", "modelArtifacts.size",
                            "decode.replicas", "decode.parallelism.tensor",
                            "decode.parallelism.dataLocal", "decode.containers.image",
                            "decode.containers.modelCommand", "decode.containers.args",
                            "decode.containers.resources.limits.nvidia.com/gpu"}));
  // 16.06 GB of weights are 14.96 GiB, and a quarter and 1 GiB more are 20.
  EXPECT_THAT(made,
              AllOf(HasSubstr("# replace IMAGE with a container image of vLLM"),
                    HasSubstr("  size: 20Gi\n"), HasSubstr("    tensor: 2\n"),
                    HasSubstr("nvidia.com/gpu: '2'"), HasSubstr("prefill:\n  create: false")));
  EXPECT_THAT(text("llm-d", own_attention_),
              HasSubstr("    tensor: 1\n    data: 4\n    dataLocal: 4\n    workers: 1\n"));
}

TEST_F(Emit, DynamoHasAnImageOfEveryServiceAndModesOfWorkers) {
  // With prefill-only replicas there are two pools.
  const std::string made = text("dynamo", {"--split"});
  std::vector<std::string> needed{"spec.services.Frontend.extraPodSpec.mainContainer.image"};
  for (const char* worker : {"VllmPrefillWorker", "VllmDecodeWorker"}) {
    const std::string under = fmt::format("spec.services.{}.", worker);
    for (const char* key :
         {"componentType", "subComponentType", "replicas", "resources.limits.gpu",
          "extraPodSpec.mainContainer.image", "extraPodSpec.mainContainer.command",
          "extraPodSpec.mainContainer.args"}) {
      needed.push_back(under + key);
    }
  }
  EXPECT_THAT(keys(made), IsSupersetOf(needed));
  EXPECT_THAT(
      made,
      AllOf(HasSubstr("kind: DynamoGraphDeployment"), HasSubstr("# replace IMAGE with"),
            HasSubstr("- '--disaggregation-mode=prefill'"),
            HasSubstr("- '--disaggregation-mode=decode'"), Not(HasSubstr("--is-prefill-worker"))));
}

TEST_F(Emit, KserveTellsDataParallelismWithItsWorker) {
  const std::string made = text("kserve", {"--gpus", "2"});
  EXPECT_THAT(keys(made),
              IsSupersetOf({"spec.model.uri", "spec.model.name", "spec.replicas",
                            "spec.parallelism.tensor", "spec.template.containers.env.value",
                            "spec.template.containers.resources.limits.nvidia.com/gpu",
                            "spec.router.route", "spec.router.gateway", "spec.router.scheduler"}));
  EXPECT_THAT(keys(made), Not(testing::Contains("spec.worker")));
  const std::string own = text("kserve", own_attention_);
  EXPECT_THAT(own, HasSubstr("    data: 4\n    dataLocal: 4\n    expert: true\n"));
  EXPECT_THAT(keys(own), IsSupersetOf({"spec.worker.containers.name",
                                       "spec.worker.containers.resources.limits.nvidia.com/gpu"}));
}

TEST_F(Emit, KserveQuotesJsonForItsShell) {
  const std::string made = text("kserve", {"--split"});
  EXPECT_THAT(
      made,
      HasSubstr(
          R"(--kv-transfer-config=''{"kv_connector":"NixlConnector","kv_role":"kv_both"}'')"));
  EXPECT_THAT(keys(made), IsSupersetOf({"spec.prefill.replicas", "spec.prefill.parallelism.tensor",
                                        "spec.prefill.template.containers.env.value"}));
}

TEST_F(Emit, KserveRefusesStages) {
  for (const std::vector<std::string>& attention :
       {std::vector<std::string>{}, std::vector<std::string>{"--data-parallel-attention"}}) {
    std::vector<std::string> more{"--model", "mixtral-8x7b", "--gpus", "4", "--stages", "2"};
    more.insert(more.end(), attention.begin(), attention.end());
    const ProgramRun made = run("kserve", more);
    EXPECT_EQ(made.status, 2);
    EXPECT_THAT(made.err, HasSubstr("cannot describe replicas of 2 pipeline stages"));
    EXPECT_EQ(made.out, "");
  }
}

TEST_F(Emit, RequestsTheResourceOfTheVendor) {
  for (const auto& [board, resource] :
       {std::pair("mi300x", "amd.com/gpu"), std::pair("gaudi3", "habana.ai/gaudi"),
        std::pair("tpu-v6e", "google.com/tpu")}) {
    for (const char* format : {"llm-d", "kserve"}) {
      EXPECT_THAT(text(format, {"--board", board}),
                  AllOf(HasSubstr(fmt::format("{}: '1'", resource)), Not(HasSubstr("nvidia"))))
          << board << " " << format;
    }
    const ProgramRun refused = run("dynamo", {"--board", board});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--emit dynamo requests GPUs of NVIDIA, and "));
  }
  // A board file may not name its vendor.
  const std::string own =
      folder_.write("own.toml", "memory_bytes = 80e9\nbandwidth_gbs = 3350\nbf16_tflops = 989\n");
  const ProgramRun made = run("kserve", {"--board", own});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("RESOURCE: '1'"), HasSubstr("# replace RESOURCE with")));
}

TEST_F(Emit, SaysThatAReplicaSpansNodesOrRefusesIt) {
  const std::vector<std::string> large{"--gpus", "8", "--stages", "2"};
  for (const char* format : {"vllm", "sglang"}) {
    const ProgramRun made = run(format, large);
    ASSERT_EQ(made.status, 0) << made.err;
    for (const std::string& place : {made.out, made.err}) {
      EXPECT_THAT(place, HasSubstr("start each replica on 2 nodes of 8 GPUs")) << format;
    }
    EXPECT_THAT(text(format, {"--gpus", "8"}), Not(HasSubstr("nodes")));
  }
  for (const char* format : {"llm-d", "dynamo", "kserve"}) {
    const ProgramRun made = run(format, large);
    EXPECT_EQ(made.status, 2);
    EXPECT_THAT(made.err, HasSubstr("cannot describe replicas of 16 GPUs")) << format;
  }
}

TEST_F(Emit, SaysWhatIsLeftToReplace) {
  const std::string model = folder_.write("small.toml", R"([config]
model_type = "llama"
num_hidden_layers = 16
hidden_size = 2048
num_attention_heads = 32
num_key_value_heads = 8
intermediate_size = 8192
vocab_size = 128256
)");
  for (const char* format : {"vllm", "sglang", "llm-d", "dynamo", "kserve"}) {
    const ProgramRun made = run(format, {"--model", model, "--draft-tokens", "2"});
    ASSERT_EQ(made.status, 0) << made.err;
    for (const char* phrase : {"replace MODEL with", "replace DRAFT_MODEL with"}) {
      EXPECT_THAT(made.err, HasSubstr(phrase)) << format;
      EXPECT_THAT(made.out, HasSubstr(fmt::format("# {}", phrase))) << format;
    }
  }
}

TEST_F(Emit, WritesAFileNextToTheAnswer) {
  const std::string file = folder_ / "fleet.yaml";
  const ProgramRun both = run("kserve", {"--out", file});
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("replicas_for_log"));
  EXPECT_TRUE(std::filesystem::exists(file));
  const ProgramRun unknown = run("helm");
  EXPECT_NE(unknown.status, 0);
  EXPECT_THAT(unknown.err, HasSubstr("no deployment format is named \"helm\""));
}

}  // namespace
}  // namespace almanac
