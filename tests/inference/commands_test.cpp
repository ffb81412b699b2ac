// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference as its user calls it.
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/command_fixture.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(InferenceCommand, ShowsWhatIsUnderstoodOfAModel) {
  const ProgramRun made = run_program({"inference", "model", "deepseek-v3", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json model = json::parse(made.out);
  EXPECT_EQ(model["parameters"], 671'026'419'200);
  EXPECT_EQ(model["active_parameters"], 37'552'297'472);
  EXPECT_EQ(model["kv_bytes_per_token"], 70'272);
  EXPECT_EQ(model["attention"], "MLA");
  EXPECT_EQ(model["experts"], 256);
  EXPECT_EQ(model["layer_groups"].size(), 2);
  const std::string config =
      folder_.write("config.json", R"({"model_type":"brand_new","hidden_size":64})");
  const ProgramRun refused = run_program({"inference", "model", config});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("model_type: \"brand_new\""));
  const std::string checkpoint = std::filesystem::path(config).parent_path();
  EXPECT_THAT(run_program({"inference", "model", checkpoint}).err,
              HasSubstr(checkpoint + ": expected a model's name or file, found a folder (give " +
                        config + ")"));
}

TEST_F(InferenceCommand, ModelsAndBoardsMayBeFiles) {
  const std::string board =
      folder_.write("slow.toml", "memory_bytes = 80e9\nbandwidth_gbs = 335\nbf16_tflops = 98.9\n");
  const std::string model = folder_.write("small.toml", R"([config]
model_type = "llama"
num_hidden_layers = 16
hidden_size = 2048
num_attention_heads = 32
num_key_value_heads = 8
intermediate_size = 8192
vocab_size = 128256
)");
  const auto tpot = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"inference", "simulate", requests_, "--model",
                                          model,       "-o",       "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun made = run_program(arguments);
    EXPECT_EQ(made.status, 0) << made.err;
    return json::parse(made.out);
  };
  const json fast = tpot({}), slow = tpot({"--board", board});
  EXPECT_GT(slow["tpot_ms"]["mean"], fast["tpot_ms"]["mean"]);
  EXPECT_EQ(slow["step_times"],
            "kernels measured on h100, not on slow; not compared with a server: small (3 GB) "
            "on 1 slow");
  // Nothing is faster than the limits of a board.
  const json limits = tpot({"--times", "roofline"});
  EXPECT_LT(limits["tpot_ms"]["mean"], fast["tpot_ms"]["mean"]);
  EXPECT_EQ(limits["step_times"],
            "limits of h100: no server is faster that runs one operation at a time");
  const ProgramRun shown = run_program({"inference", "board", board, "-o", "json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(json::parse(shown.out)["bandwidth_gbs"], 335);
  const ProgramRun all = run_program({"inference", "board", "-o", "json"});
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_GE(json::parse(all.out).size(), 39);
}

TEST_F(InferenceCommand, StepTimesGiveTheErrorOnlyOfWhatWasMeasured) {
  const auto basis = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"inference", "simulate", requests_, "-o", "json", "--model"});
    const ProgramRun made = run_program(more);
    EXPECT_EQ(made.status, 0) << made.err;
    return json::parse(made.out)["step_times"].get<std::string>();
  };
  const std::string known = "kernels measured on h100; end to end 8 % off on 26 measured runs of ";
  EXPECT_EQ(basis({"llama-3.1-8b"}), known + "vLLM");
  EXPECT_EQ(basis({"llama-3.1-8b", "--gpus", "2"}), known + "vLLM");
  // Runs of other models have an error of their own.
  EXPECT_THAT(basis({"qwen3-32b", "--gpus", "2"}),
              HasSubstr("; end to end 14 % off on 60 measured runs of vLLM"));
  const std::string none = "kernels measured on h100; not compared with a server: ";
  EXPECT_EQ(basis({"llama-3.1-8b", "--gpus", "4"}), none + "llama-3.1-8b (16.1 GB) on 4 h100");
  EXPECT_EQ(basis({"qwen3-0.6b"}), none + "qwen3-0.6b (1.19 GB) on 1 h100");
  EXPECT_EQ(basis({"llama-3.1-70b", "--gpus", "4"}), none + "llama-3.1-70b (141 GB) on 4 h100");
  EXPECT_EQ(basis({"llama-3.1-8b", "--draft-tokens", "3"}), none + "drafts");
  EXPECT_EQ(basis({"llama-3.1-8b", "--stages", "2"}), none + "pipeline stages");
  EXPECT_THAT(basis({"llama-3.1-8b", "--replicas", "2", "--prefill", "1"}),
              HasSubstr("; not compared with a server: prefill-only replicas"));
}

TEST_F(InferenceCommand, ComparesCompositionsOnOneLog) {
  const ProgramRun made =
      run("compare", {"--replicas", "2", "--gpu-hour", "3.6", "--of",
                      "chunked+least_tokens,drop_late+round_robin", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json all = json::parse(made.out);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]["composition"], "chunked+least_tokens");
  EXPECT_EQ(all[0]["finished"], 40);
  // What can no longer be in time is turned away, so that others are.
  EXPECT_LT(all[1]["finished"], 40);
  EXPECT_GE(all[1]["attainment"], all[0]["attainment"]);
  EXPECT_NEAR(all[0]["cost"].get<double>(), 3.6 * all[0]["gpu_hours"].get<double>(), 1e-9);
  // Two idle boards of 75 W at least, two that compute at 700 W at most.
  const double hours = all[0]["gpu_hours"];
  EXPECT_GT(all[0]["energy_kwh"], 0.075 * hours);
  EXPECT_LT(all[0]["energy_kwh"], 0.7 * hours);
  const ProgramRun wrong = run("compare", {"--of", "chunkd"});
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean chunked?"));
  // No rate is served with a token each millisecond, and that is what is said.
  const ProgramRun never =
      run_program({"inference", "compare", requests_, "--model", "llama-3.1-8b", "--tpot", "1ms",
                   "--replicas", "1..2", "--of", "mark"});
  EXPECT_NE(never.status, 0);
  EXPECT_THAT(never.err, HasSubstr("does not meet the objective at any rate of these requests"));
}

TEST_F(InferenceCommand, PlaysAPlanOfSeveralModels) {
  const std::string log = folder_.write("models.csv",
                                        "arrival_s,prompt_tokens,output_tokens,model\n"
                                        "0,1000,20,llama-3.1-8b\n0,1000,20,qwen2.5-7b\n"
                                        "1,1000,20,llama-3.1-8b\n");
  const std::string plan =
      folder_.write("plan.csv", "gpus,model\n0,llama-3.1-8b\n0,qwen2.5-7b\n1-2,llama-3.1-8b\n");
  const auto simulate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"inference", "simulate", log};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const ProgramRun made =
      simulate({"--plan", plan, "--ttft", "1s", "--gpu-hour", "2", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json all = json::parse(made.out);
  EXPECT_EQ(all["gpus"], 3);
  EXPECT_NEAR(all["gpu_hours"], 3 * all["span_s"].get<double>() / 3600, 1e-12);
  EXPECT_NEAR(all["cost"], 2 * all["gpu_hours"].get<double>(), 1e-12);
  EXPECT_EQ(all["all"]["finished"], 3);
  ASSERT_EQ(all["models"].size(), 2);
  EXPECT_EQ(all["models"][0]["model"], "llama-3.1-8b");
  EXPECT_EQ(all["models"][0]["replicas"], 2);
  EXPECT_EQ(all["models"][0]["requests"], 2);
  EXPECT_EQ(all["models"][1]["requests"], 1);
  // One model answers all, whatever requests name.
  const ProgramRun one = simulate({"--model", "llama-3.1-8b", "-o", "json"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(json::parse(one.out)["finished"], 3);
  const ProgramRun neither = simulate({});
  EXPECT_NE(neither.status, 0);
  EXPECT_THAT(neither.err, HasSubstr("no model is given"));
  const ProgramRun scaled = simulate({"--plan", plan, "--scaler", "mark"});
  EXPECT_EQ(scaled.status, 2);
  EXPECT_THAT(scaled.err,
              HasSubstr("--scaler cannot be used with --plan: a plan has a fixed set of replicas "
                        "(simulate that model alone, with --model, --replicas A..B and"));
  const ProgramRun both = simulate({"--plan", plan, "--model", "llama-3.1-8b"});
  EXPECT_NE(both.status, 0);
  EXPECT_THAT(both.err, HasSubstr("--plan"));
}

TEST_F(InferenceCommand, ComparesPlansAndMakesOne) {
  std::string rows = "arrival_s,prompt_tokens,output_tokens,model\n";
  for (int each = 0; each < 40; ++each) {
    rows += std::to_string(each / 4) + ",2000,20," +
            (each / 4 % 2 == 0 ? "llama-3.1-8b" : "qwen2.5-7b") + "\n";
  }
  const std::string log = folder_.write("models.csv", rows);
  const std::string found = folder_ / "found.csv";
  const std::string apart =
      folder_.write("apart.csv", "gpus,model\n0,llama-3.1-8b\n1,qwen2.5-7b\n");
  const ProgramRun planned = run_program(
      {"inference", "plan", log, "--total", "2", "--ttft", "250ms", "--out", found, "-o", "json"});
  ASSERT_EQ(planned.status, 0) << planned.err;
  const ProgramRun made = run_program({"inference", "compare", log, "--plan", found + "," + apart,
                                       "--ttft", "250ms", "--gpu-hour", "2", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json all = json::parse(made.out);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]["composition"], found);
  EXPECT_EQ(all[0]["attainment"], json::parse(planned.out)["all"]["attainment"]);
  EXPECT_GE(all[0]["attainment"], all[1]["attainment"]);
  EXPECT_NEAR(all[1]["cost"], 2 * all[1]["gpu_hours"].get<double>(), 1e-12);
  EXPECT_FALSE(all[0].contains("energy_kwh"));
  const ProgramRun of =
      run_program({"inference", "compare", log, "--plan", apart, "--of",
                   "chunked+round_robin,drop_late", "--ttft", "250ms", "-o", "json"});
  ASSERT_EQ(of.status, 0) << of.err;
  EXPECT_EQ(json::parse(of.out)[1]["composition"], apart + " drop_late");
  const ProgramRun scaled =
      run_program({"inference", "compare", log, "--plan", apart, "--of", "chunked+mark"});
  EXPECT_EQ(scaled.status, 2);
  EXPECT_THAT(scaled.err, HasSubstr("chunked+mark cannot be used with --plan: a plan has a fixed "
                                    "set of replicas (leave out mark)"));
  const ProgramRun aimless = run_program({"inference", "plan", log, "--out", found});
  EXPECT_NE(aimless.status, 0);
  EXPECT_THAT(aimless.err, HasSubstr("a plan needs an objective"));
}

TEST_F(InferenceCommand, MakesALogLikeAnother) {
  const std::string made = folder_ / "made.csv", workload = folder_ / "mine.toml";
  const ProgramRun like = run_program({"inference", "generate", "--like", requests_, "--seed", "3",
                                       "--save-workload", workload, "--out", made});
  ASSERT_EQ(like.status, 0) << like.err;
  EXPECT_THAT(like.err, HasSubstr("40 requests"));
  const ProgramRun again =
      run_program({"inference", "generate", "--workload", workload, "--seed", "3"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(std::count(again.out.begin(), again.out.end(), '\n'), 41);
  const ProgramRun played = run_program(
      {"inference", "simulate", made, "--model", "llama-3.1-8b", "--ttft", "1s", "-o", "json"});
  ASSERT_EQ(played.status, 0) << played.err;
  EXPECT_EQ(json::parse(played.out)["finished"], 40);
}

TEST_F(InferenceCommand, SizesForWhatMayFollowToo) {
  const ProgramRun sure = run("size", {"-o", "json"}),
                   log = run("size", {"--confidence", "0", "-o", "json"});
  ASSERT_EQ(sure.status, 0) << sure.err;
  ASSERT_EQ(log.status, 0) << log.err;
  const json of = json::parse(sure.out), alone = json::parse(log.out);
  EXPECT_EQ(of["following_logs"], 20);
  EXPECT_GE(of["following_served"], 19);
  EXPECT_EQ(of["replicas_for_log"], alone["replicas"]);
  EXPECT_GE(of["replicas"], alone["replicas"]);
  EXPECT_EQ(alone["following_logs"], 0);
}

TEST_F(InferenceCommand, SuggestsThePrefixCacheWhereItPays) {
  // Prompts of 8 blocks, of which 7 are one of 10 heads.
  std::string rows = "arrival_s,prompt_tokens,output_tokens,block_ids\n";
  for (int each = 0; each < 200; ++each) {
    const int head = 10 * (each * 7 % 10);
    rows += std::to_string(each / 10.0) + ",4096,20," + std::to_string(head) + "-" +
            std::to_string(head + 6) + " " + std::to_string(1000 + each) + "\n";
  }
  requests_ = folder_.write("heads.csv", rows);
  const ProgramRun plain = run("size", {"--confidence", "0"});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.err, HasSubstr("of the prompt tokens repeat an earlier prompt"));
  EXPECT_THAT(plain.err, HasSubstr("--prefix-cache"));
  const ProgramRun both =
      run("size", {"--confidence", "0", "--prefix-cache", "--router", "prefix_affinity"});
  EXPECT_EQ(both.err.find("repeat an earlier prompt"), std::string::npos) << both.err;
}

TEST_F(InferenceCommand, NamesTheObjective) {
  const json made = json::parse(run("simulate", {"--tpot", "50ms", "-o", "json"}).out);
  EXPECT_EQ(made["objective"], "TTFT <= 300 ms and TPOT <= 50 ms");
  EXPECT_THAT(run("simulate").out, HasSubstr("objective            TTFT <= 300 ms\n"));
}

TEST_F(InferenceCommand, RefusesAModelOrBoardThatItDoesNotKnow) {
  const auto refused = [&](const std::string& model, const std::string& board) {
    const ProgramRun made =
        run_program({"inference", "simulate", requests_, "--model", model, "--board", board});
    EXPECT_NE(made.status, 0) << model << board;
    return made.err;
  };
  EXPECT_THAT(refused("llama-3.1-8b-fp8", "h100"), HasSubstr("nearest: llama-3.1-8b"));
  EXPECT_THAT(refused("llama-3.1-8b", "h100,a100"), HasSubstr("no board is named \"h100,a100\""));
  const std::string config =
      folder_.write("config.json", R"({"model_type":"llama","num_hidden_layers":4,"hidden_size":64,
                         "num_attention_heads":4,"intermediate_size":128,"vocab_size":1000,
                         "mamba_d_state":16})");
  EXPECT_THAT(refused(config, "h100"), HasSubstr("config.json: mamba_d_state: 16"));
}

TEST_F(InferenceCommand, SaysTheSameOfAFleetThatStaysAsSimulateDoes) {
  const ProgramRun one = run("simulate", {"--replicas", "2", "-o", "json"});
  const ProgramRun other = run("compare", {"--replicas", "2", "--of", "chunked", "-o", "json"});
  ASSERT_EQ(one.status, 0) << one.err;
  ASSERT_EQ(other.status, 0) << other.err;
  const json simulated = json::parse(one.out), compared = json::parse(other.out)[0];
  for (const char* figure : {"attainment", "gpu_hours", "energy_kwh"}) {
    EXPECT_EQ(simulated[figure], compared[figure]) << figure;
  }
  EXPECT_EQ(simulated["ttft_ms"]["p99"], compared["ttft_p99_ms"]);
}

TEST_F(InferenceCommand, LetsReplicasComputePromptsForOthers) {
  const ProgramRun made = run("compare", {"--replicas", "3", "--of", "chunked,1p", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json all = json::parse(made.out);
  EXPECT_EQ(all[1]["finished"], 40);
  // One for prompts has a queue of twenty where three share it; no prompt holds up a token.
  EXPECT_GT(all[1]["ttft_p90_ms"], all[0]["ttft_p90_ms"]);
  EXPECT_LT(all[1]["tpot_p99_ms"], all[0]["tpot_p99_ms"]);
  const ProgramRun split = run("size", {"--split", "-o", "json"});
  ASSERT_EQ(split.status, 0) << split.err;
  EXPECT_GE(json::parse(split.out)["prefill_replicas"], 1);
  for (const auto& [wrong, message] :
       {std::pair{std::vector<std::string>{"--replicas", "2", "--prefill", "2"},
                  "leave at least one"},
        std::pair{std::vector<std::string>{"--replicas", "1..3", "--prefill", "1"},
                  "be combined with a scaler"},
        std::pair{std::vector<std::string>{"--wait", "5ms"}, "--batch fixed"}}) {
    const ProgramRun refused = run("simulate", wrong);
    EXPECT_NE(refused.status, 0);
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
}

TEST_F(InferenceCommand, TellsTenantsTheWorstServedFirstAndLoadsOfAdapters) {
  std::string rows = "arrival_s,prompt_tokens,output_tokens,tenant,adapter\n";
  for (int each = 0; each < 60; ++each) {
    rows += std::to_string(0.5 * each) + (each % 3 == 0 ? ",8000,5,long," : ",200,5,short,") +
            (each % 2 == 0 ? "law" : "art") + "\n";
  }
  const std::string log = folder_.write("tenants.csv", rows);
  const std::vector<std::string> asked{"inference",    "simulate",   log,     "--model",
                                       "llama-3.1-8b", "--ttft",     "100ms", "-o",
                                       "json",         "--adapters", "1"};
  const ProgramRun made = run_program(asked);
  ASSERT_EQ(made.status, 0) << made.err;
  const json of = json::parse(made.out);
  EXPECT_EQ(of["worst_tenant"], "long");
  ASSERT_EQ(of["tenants"].size(), 2);
  EXPECT_EQ(of["tenants"][0]["attainment"], 0);
  EXPECT_EQ(of["tenants"][1]["attainment"], 1);
  EXPECT_EQ(of["adapter_loads"], 60) << "one place, and two that take turns";
  EXPECT_THAT(run_program({"inference", "simulate", log, "--model", "llama-3.1-8b"}).out,
              HasSubstr("gpu_share"));
  const ProgramRun part = run_program({"inference", "simulate", log, "--model", "llama-3.1-8b",
                                       "--from", "10s", "--until", "20s", "-o", "json"});
  EXPECT_EQ(json::parse(part.out)["requests"], 20);
  EXPECT_THAT(run_program({"inference", "simulate", log, "--model", "llama-3.1-8b", "--from", "9s",
                           "--until", "9s"})
                  .err,
              HasSubstr("--until 9s must be later than --from 9s"));
}

TEST_F(InferenceCommand, SizesAPlanAndSaysWhatALogDoesNotTell) {
  const std::string plan = folder_.write("one.csv", "gpus,model\n0,llama-3.1-8b\n");
  const std::string out = folder_ / "sized.csv";
  std::vector<std::string> asked{"inference", "size",  requests_,      "--plan", plan,
                                 "--ttft",    "300ms", "--confidence", "0",      "--out",
                                 out,         "-o",    "json"};
  const ProgramRun made = run_program(asked);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("this log does not predict the next day"));
  const json of = json::parse(made.out);
  EXPECT_GE(of["all"]["attainment"], 0.9);
  EXPECT_EQ(of["valid_for"], "this log only");
  const ProgramRun alone = run_program({"inference", "size", requests_, "--model", "llama-3.1-8b",
                                        "--ttft", "300ms", "--confidence", "0", "-o", "json"});
  EXPECT_EQ(of["gpus"], json::parse(alone.out)["replicas"]);
  EXPECT_EQ(json::parse(alone.out)["valid_for"], "this log only");
  EXPECT_THAT(json::parse(alone.out)["doubts"].front(), HasSubstr("other hours may be busier"));
  EXPECT_THAT(alone.err, HasSubstr("The size holds for this log"));
  const ProgramRun again = run_program(
      {"inference", "simulate", requests_, "--plan", out, "--ttft", "300ms", "-o", "json"});
  EXPECT_EQ(json::parse(again.out)["all"]["attainment"], of["all"]["attainment"]);
}

TEST_F(InferenceCommand, ExplainsARequest) {
  const ProgramRun made = run("explain", {"--request", "20", "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json told = json::parse(made.out);
  EXPECT_EQ(told["unfinished_before"], 19);
  EXPECT_EQ(told["slo"], "missed: waited for a replica");
  EXPECT_NEAR(told["waited_ms"].get<double>() + told["prefill_ms"].get<double>(),
              told["ttft_ms"].get<double>(), 2e-3);
  EXPECT_EQ(json::parse(run("explain", {"--request", "40", "-o", "json"}).out)["slo"], "met");
  const ProgramRun wrong = run("explain", {"--request", "41"});
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("requests 1 to 40"));
}

TEST_F(InferenceCommand, LeavesAReport) {
  const std::string out = folder_ / "report";
  const ProgramRun made = run("report", {"--out", out, "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  for (const char* figure : {"latency", "percentiles", "attainment", "losses", "fleet", "sizes"}) {
    EXPECT_TRUE(std::filesystem::exists(out + "/service_" + figure + ".csv")) << figure;
  }
  EXPECT_THAT(made.out, HasSubstr("% of 40 requests met the objective (TTFT <= 300 ms)"));
  EXPECT_THAT(made.out, HasSubstr("waited for a replica"));
}

TEST_F(InferenceCommand, SizeTakesOneListOfGoalsAndTellsTheLoadThatHolds) {
  const std::vector<std::string> alone{"--confidence", "0", "-o", "json"};
  const auto sized = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"inference", "size", requests_, "--model", "llama-3.1-8b"});
    arguments.insert(arguments.end(), alone.begin(), alone.end());
    return run_program(arguments);
  };
  const ProgramRun listed = sized({"--goal", "ttft=1s,e2e=5s,goodput=0.8"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  const json made = json::parse(listed.out);
  EXPECT_EQ(made["objective"], "TTFT <= 1000 ms and E2E <= 5000 ms");
  const ProgramRun each = sized({"--ttft", "1s", "--e2e", "5s", "--share", "0.8"});
  EXPECT_EQ(listed.out, each.out);
  // More replicas carry more, and the recommended number carries this log.
  const json& curve = made["curve"];
  ASSERT_FALSE(curve.empty());
  EXPECT_EQ(curve.back()["replicas"], made["replicas"]);
  EXPECT_GE(curve.back()["times_log"], 1);
  for (std::size_t at = 1; at < curve.size(); ++at) {
    EXPECT_GE(curve[at]["load_rps"], curve[at - 1]["load_rps"]);
  }
  const ProgramRun wrong = sized({"--goal", "itl=5ms"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("expected ttft, tpot, e2e or goodput"));
  // Without a number there is still what an idle replica reaches.
  const ProgramRun none = sized({"--ttft", "1ms"});
  EXPECT_EQ(none.status, 69);
  EXPECT_THAT(none.err, HasSubstr("on an idle replica, 90 % of the requests have TTFT <="));
  // A share is given once.
  for (const std::vector<std::string>& twice :
       {std::vector<std::string>{"--goal", "goodput=0.5", "--share", "0.99"},
        std::vector<std::string>{"--goal", "goodput=0.5,goodput=0.99"}}) {
    std::vector<std::string> more = twice;
    more.insert(more.end(), {"--ttft", "1s"});
    const ProgramRun refused = sized(more);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("expected the share once"));
  }
}

TEST_F(InferenceCommand, SizeLeavesOutWhatNoRequestHas) {
  // Answers of one token have no time for each token after the first.
  requests_ =
      folder_.write("short.csv", "arrival_s,prompt_tokens,output_tokens\n0,1000,1\n60,1000,1\n");
  const ProgramRun none =
      run_program({"inference", "size", requests_, "--model", "llama-3.1-8b", "--ttft", "1ms"});
  EXPECT_EQ(none.status, 69);
  EXPECT_THAT(none.err, testing::AllOf(HasSubstr("have TTFT <="), HasSubstr(" ms, E2E <="),
                                       testing::Not(HasSubstr("nan"))));
}

TEST_F(InferenceCommand, SaysHowManyRequestsNoReplicaHasRoomFor) {
  // Ten blocks hold 160 tokens: all but the last token of the first request's answer.
  requests_ =
      folder_.write("room.csv", "arrival_s,prompt_tokens,output_tokens\n0,151,10\n1,151,11\n");
  const ProgramRun run = run_program({"inference", "simulate", requests_, "--model", "llama-3.1-8b",
                                      "--replicas", "1", "--kv-blocks", "10"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("1 of 2 requests exceed the 160 tokens of KV cache that a replica "
                                 "has room for, and are rejected"));
  EXPECT_THAT(run.out, testing::ContainsRegex("finished +1\n"));
}

}  // namespace
}  // namespace almanac
