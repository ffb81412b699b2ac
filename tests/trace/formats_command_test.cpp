// SPDX-License-Identifier: Apache-2.0

/// \file
/// What logs of several formats say once a command has read them: machine, units, products of
/// columns, and figures that do not exist.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/shared_data.h"

namespace almanac {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class FormatsCommand : public testing::Test {
 protected:
  ProgramRun serve(const std::string& requests, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"inference",    "simulate", requests, "--model",
                                   "llama-3.1-8b", "--board",  "h100",   "--ttft",
                                   "500ms",        "--tpot",   "50ms"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  TemporaryFolder folder_;
};

TEST_F(FormatsCommand, SwfRunsOnTheMachineOfItsHeaderWhateverTheQueues) {
  // Three jobs of the whole machine: they run one after the other, as recorded.
  const std::string log =
      folder_.write("t.swf",
                    "; Version: 2.2\n; MaxNodes: 16\n; MaxProcs: 16\n; UnixStartTime: 1700000000\n"
                    "; Queue: 1 day\n; Queue: 2 night\n; Partition: 1 all\n"
                    "1 0 0 1000 16 -1 -1 16 1000 -1 1 1 1 1 1 1 -1 -1\n"
                    "2 0 1000 1000 16 -1 -1 16 1000 -1 1 1 1 1 2 1 -1 -1\n"
                    "3 0 2000 1000 16 -1 -1 16 1000 -1 1 1 1 1 1 1 -1 -1\n");
  const ProgramRun run = run_program({"simulate", log, "--policy", "fifo"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("fifo  .*33m 20s .*16m 40s"));
  const ProgramRun inferred = run_program({"cluster", "infer", log});
  EXPECT_THAT(inferred.out, ContainsRegex("nodes = 16 .*\ngpus = 1 "));
}

TEST_F(FormatsCommand, SwfWithoutMaxNodesHasNodesThatShareItOut) {
  const std::string log = folder_.write(
      "t.swf", "; MaxProcs: 240\n; UnixStartTime: 1\n1 0 0 9 30 -1 -1 30 9 -1 1 1 1 1 1 1 -1 -1\n");
  const ProgramRun inferred = run_program({"cluster", "infer", log});
  EXPECT_THAT(inferred.out, ContainsRegex("nodes = 30 .*\ngpus = 8 "));
}

TEST_F(FormatsCommand, ColumnMapsMultiplyWorkers) {
  const std::string log = folder_.write("spot.csv",
                                        "job_name,gpu_request,worker_num,submit_time,duration\n"
                                        "1,1,1,0,3600\n2,1,16,10,3600\n3,1,94,20,7200\n");
  const auto info = [&](const std::string& gpus) {
    const std::string map =
        folder_.write("map.toml",
                      "[columns]\njob_id = \"job_name\"\nsubmit_s = \"submit_time\"\nrun_s = "
                      "\"duration\"\nnodes = \"worker_num\"\ngpus = " +
                          gpus + "\n");
    return run_program({"trace", "info", log, "--columns", map});
  };
  const ProgramRun each = info(R"({column = "gpu_request", times = "worker_num"})");
  EXPECT_THAT(each.out, HasSubstr("205.0 GPU-hours")) << each.err;
  EXPECT_EQ(each.err, "");
  const ProgramRun one = info(R"("gpu_request")");
  EXPECT_THAT(one.err, HasSubstr("fewer GPUs than nodes, as if the log counted GPUs per node: "
                                 "2 of 3 jobs, the first is 2"));
}

TEST_F(FormatsCommand, AnswersOfOneTokenHaveNoTimePerToken) {
  std::string content = "arrival_s,prompt_tokens,output_tokens,tenant\n";
  for (int each = 0; each < 10; ++each) content += fmt::format("{},500,1,ann\n", each);
  const std::string log = folder_.write("one.csv", content);
  const ProgramRun table = serve(log);
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, ContainsRegex("tpot_ms +- +- +- +- +-\n"));
  EXPECT_THAT(table.out, ContainsRegex("longest_gap_ms +- +- +- +- +-\n"));
  EXPECT_THAT(serve(log, {"-o", "json"}).out, ContainsRegex("\"tpot_ms\": \\{\n *\"mean\": null,"));
  const ProgramRun csv = serve(log, {"-o", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("tpot_mean_ms,\n"));
  EXPECT_THAT(csv.out, HasSubstr("tpot_p50_ms of ann,\n"));
  EXPECT_THAT(csv.out, Not(ContainsRegex("[ ,]nan")));
  const ProgramRun compared =
      run_program({"inference", "compare", log, "--model", "llama-3.1-8b", "--of", "chunked"});
  EXPECT_THAT(compared.out, Not(ContainsRegex("[ ,]nan"))) << compared.err;
  // One answer of two tokens is all that counts.
  const std::string mixed = folder_.write("mixed.csv", content + "20,500,2,ann\n");
  EXPECT_THAT(serve(mixed).out, Not(ContainsRegex("tpot_ms +(-|0.00)")));
}

TEST_F(FormatsCommand, RequestLogsTellTheirUnits) {
  const auto cases = shared_path("data/cases/qwen_trace_units");
  if (!cases) GTEST_SKIP() << "the shared cases are not at hand";
  const ProgramRun qwen = serve(*cases + "/qwen.jsonl.gz", {"--prefix-cache"});
  EXPECT_EQ(qwen.status, 0) << qwen.err;
  EXPECT_THAT(qwen.out, ContainsRegex("span_s +71(88|89|90)"));
  EXPECT_THAT(qwen.out, ContainsRegex("prefix_hit_share +0.49"));
  const ProgramRun same = serve(*cases + "/moon_same.jsonl", {"--prefix-cache"});
  EXPECT_THAT(same.out, ContainsRegex("span_s +71(88|89|90)"));
  const ProgramRun two = serve(*cases + "/q2.jsonl");
  EXPECT_THAT(two.out, ContainsRegex("span_s +61.1"));
  const ProgramRun bad = serve(*cases + "/hash_bad.jsonl");
  EXPECT_EQ(bad.status, 65);
  EXPECT_THAT(bad.err, HasSubstr("hash_bad.jsonl:2: no block size fits the ids"));
}

TEST_F(FormatsCommand, EveryRequestLogAtHandIsReadOrRefusedForAReason) {
  const auto logs = shared_path("data/llm/requests");
  if (!logs) GTEST_SKIP() << "the shared request logs are not at hand";
  const std::vector<std::pair<const char*, const char*>> all{
      {"azure_2023_code.csv.gz", ""},
      {"azure_2023_conv.csv.gz", ""},
      {"mooncake_conversation.jsonl.gz", ""},
      {"mooncake_synthetic.jsonl.gz", ""},
      {"vidur_splitwise_code.csv.gz", ""},
      {"vidur_splitwise_conv.csv.gz", ""},
      {"vidur_arxiv_summarization.csv.gz", "no arrival times"},
      {"servegen_m-large_chunk-0-trace.csv.gz", "known format"},
      {"alibaba_2026_lora_request_trace.csv.gz", "counted in characters"},
      {"made_by_hand/aiperf_mooncake_text.jsonl", "needs counts of tokens"},
      {"made_by_hand/azure_2024.csv", ""},
      {"made_by_hand/azure_lmm_2025.csv", ""},
      {"made_by_hand/bailian.jsonl", ""},
      {"made_by_hand/burstgpt_new.csv", ""},
      {"made_by_hand/burstgpt_old.csv", ""},
      {"made_by_hand/lmsys.jsonl", "needs counts of tokens"},
      {"made_by_hand/mooncake.jsonl", ""},
      {"made_by_hand/splitwise_sim.csv", ""},
      {"made_by_hand/weka.json", "one conversation per line"},
  };
  for (const auto& [name, why] : all) {
    const std::string path = *logs + "/" + name;
    if (!std::filesystem::exists(path)) continue;
    const ProgramRun run = serve(path, {"--replicas", "4", "--until", "60s"});
    if (*why == '\0') {
      EXPECT_EQ(run.status, 0) << name << ": " << run.err;
    } else {
      EXPECT_NE(run.status, 0) << name;
      EXPECT_THAT(run.err, HasSubstr(why)) << name;
    }
  }
}

}  // namespace
}  // namespace almanac
