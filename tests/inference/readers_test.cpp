// SPDX-License-Identifier: Apache-2.0

/// \file
/// Logs of requests: each format as it was published, and what is wrong with a file in one line.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/request_log.h"
#include "support/temporary_folder.h"

namespace almanac::inference {
namespace {

class Logs : public testing::Test {
 protected:
  Result<Requests> read(const std::string& content) {
    return read_requests(folder_.write("log.csv", content));
  }
  std::string error(const std::string& content) {
    const auto made = read(content);
    return made ? "read" : to_string(made.error());
  }
  TemporaryFolder folder_;
};

TEST_F(Logs, OfAzureHaveTenthsOfMicroseconds) {
  const auto made = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 18:17:03.9799600,4808,10\n"
      "2023-11-16 18:17:04.0319601,3180,8\n");
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  EXPECT_EQ(made->all[0].arrival, 0);
  EXPECT_EQ(made->all[1].arrival, 52'000.1);
  EXPECT_EQ(made->all[1].prompt, 3180);
  EXPECT_EQ(made->all[1].output, 8);
}

TEST_F(Logs, OfAzureFrom2024TellTheirZone) {
  const auto made = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-05-10 00:00:00.009930+00:00,2162,5\n"
      "2024-05-10 00:00:00.017335+00:00,2399,6\n");
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  EXPECT_EQ(made->all[1].arrival, 7405);
}

TEST_F(Logs, OfMooncakeTellBlocks) {
  const auto table = read(
      "timestamp_ms,input_tokens,output_tokens,block_ids\n"
      "0,1300,5,0-1 7\n");
  ASSERT_TRUE(table.has_value()) << to_string(table.error());
  EXPECT_EQ(table->blocks, (std::vector<std::uint64_t>{0, 1, 7}));
  EXPECT_EQ(table->tokens_per_block, 512);
  const auto lines = read(
      "{\"timestamp\": 3000, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [4, 9]}\n");
  ASSERT_TRUE(lines.has_value()) << to_string(lines.error());
  EXPECT_EQ(lines->all[0].arrival, 3e6);
  EXPECT_EQ(lines->blocks, (std::vector<std::uint64_t>{4, 9}));
}

TEST_F(Logs, OfBurstGptLeaveOutWhatWasNotAnswered) {
  const auto made = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n"
      "45,GPT-4,100,0,100,API log\n");
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  ASSERT_EQ(made->size(), 1U);
  EXPECT_EQ(made->all[0].arrival, 5e6);
  EXPECT_THAT(made->notes, testing::ElementsAre("requests without an answer left out: 1"));
}

TEST_F(Logs, TellAdaptersAndGiveTheirNamesBack) {
  const auto made = read(
      "arrival_s,prompt_tokens,output_tokens,adapter\n0,10,1,law\n1,20,1,\n2,30,1,art\n"
      "3,40,1,law\n");
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  EXPECT_EQ(made->adapters, (std::vector<std::string>{"law", "art"}));
  EXPECT_EQ(made->all[1].adapter, 0U);
  EXPECT_EQ(made->all[3].adapter, 1U);
  const std::string path = folder_.write("again.csv", "");
  ASSERT_TRUE(save_requests(*made, path));
  const auto again = read_requests(path);
  ASSERT_TRUE(again.has_value()) << to_string(again.error());
  EXPECT_EQ(again->adapters, made->adapters);
  for (RequestId id = 0; id < 4; ++id) EXPECT_EQ((*again)[id].adapter, (*made)[id].adapter);
}

TEST_F(Logs, OfClientsAreDrawnForThePartOfTheTimeThatIsAsked) {
  folder_.write("few_windows.csv",
                "client,start_s,rate_rps,cv,pattern,shape,scale\n3,0,0.5,1,Gamma,1,2\n"
                "3,600,0.5,1,Gamma,1,2\n8,600,1,1,Weibull,1,1\n");
  const std::string lengths =
      R"({"3":{"0":{"input_tokens":{"c":[[100,1]]},"output_tokens":{"c":[[7,1]]}}},)"
      R"("8":{"0":{"text_tokens":{"c":[[10,1]]},"image_tokens":{"c":[[50,1]]},)"
      R"("image_count":{"c":[[2,1]]},"output_tokens":{"c":[[9,1]]}}}})";
  const std::string rhythms = folder_ / "few_windows.csv";
  EXPECT_THAT(to_string(read_requests(rhythms).error()), testing::HasSubstr("few_lengths.json"));
  folder_.write("few_lengths.json", lengths);
  const auto all = read_requests(folder_ / ".");
  ASSERT_TRUE(all.has_value()) << to_string(all.error());
  EXPECT_EQ(all->tenants, (std::vector<std::string>{"client 3", "client 8"}));
  EXPECT_NEAR(static_cast<double>(all->size()), 300 + 300 + 600, 6);
  const auto second = read_requests(folder_ / ".", {.from = 600e6, .until = 900e6});
  ASSERT_TRUE(second.has_value()) << to_string(second.error());
  EXPECT_NEAR(static_cast<double>(second->size()), 450, 100);
  for (const Request& each : second->all) {
    EXPECT_LT(each.arrival, 300e6);
    EXPECT_EQ(each.prompt, second->tenants[each.tenant] == "client 3" ? 100 : 10 + 2 * 50);
  }
  EXPECT_THAT(to_string(read_requests(rhythms, {.from = 7200e6}).error()),
              testing::HasSubstr("has no requests"));
}

TEST_F(Logs, ThatAreOutOfOrderAreSorted) {
  const auto made = read("arrival_s,prompt_tokens,output_tokens\n2,10,1\n1.5,20,1\n2,30,1\n");
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  EXPECT_EQ(made->all[0].prompt, 20);
  EXPECT_EQ(made->all[1].prompt, 10);
  EXPECT_EQ(made->all[2].prompt, 30);
}

TEST_F(Logs, SayWhatIsWrongInOneLine) {
  const std::string head = "arrival_s,prompt_tokens,output_tokens\n";
  EXPECT_NE(error(head + "1,ten,5\n").find("log.csv:2: prompt_tokens: \"ten\" is not a count of"),
            std::string::npos);
  EXPECT_NE(error(head + "1,0,5\n").find("log.csv:2: a prompt cannot have 0 tokens"),
            std::string::npos);
  EXPECT_NE(error(head + "1,10,-5\n").find("an answer cannot have -5 tokens"), std::string::npos);
  EXPECT_NE(error(head + "soon,10,5\n").find("arrival_s: \"soon\" is not a time"),
            std::string::npos);
  EXPECT_NE(error(head).find("has no requests"), std::string::npos);
  EXPECT_NE(error("a,b\n1,2\n").find("is not a request log of a known format"), std::string::npos);
  EXPECT_NE(error("timestamp_ms,input_tokens,output_tokens,block_ids\n0,5,5,9-3\n")
                .find("block_ids: \"9-3\" is not a list of blocks"),
            std::string::npos);
}

/// Two requests a second apart, of 100 and 200 tokens, answered with 10 and 20.
void expect_two(const Result<Requests>& made, const std::vector<std::string>& more_notes = {}) {
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  ASSERT_EQ(made->size(), 2U);
  EXPECT_EQ(made->all[0].arrival, 0);
  EXPECT_NEAR(made->all[1].arrival, 1e6, 1);
  EXPECT_EQ(made->all[0].prompt, 100);
  EXPECT_EQ(made->all[1].prompt, 200);
  EXPECT_EQ(made->all[0].output, 10);
  EXPECT_EQ(made->all[1].output, 20);
  std::vector<std::string> notes = more_notes;
  notes.emplace_back("requests without an answer left out: 1");
  EXPECT_EQ(made->notes, notes);
}

TEST_F(Logs, OfInferencePerfAreListsOfRequests) {
  // An older request, a newer one of which the server counted the tokens, and one that failed.
  expect_two(read(R"([
  {"stage_id": 0, "start_time": 50.25, "end_time": 51.0, "request": "...",
   "info": {"input_tokens": 100, "output_tokens": 10, "output_token_times": []}, "error": null},
  {"start_time": 51.25, "end_time": 52.0, "error": null,
   "info": {"request_metrics": {"text": {"input_tokens": 200}}, "input_tokens": 200,
            "response_metrics": {"output_tokens": 19, "server_usage": {"completion_tokens": 20}}}},
  {"start_time": 51.5, "end_time": 52.0, "info": {"input_tokens": 300},
   "error": {"error_type": "HTTP Error 500", "error_msg": ""}}
])"));
  EXPECT_THAT(error(R"([{"start_time": 1, "info": {"input_tokens": 5}, "error": null}])"),
              testing::HasSubstr("request 1: info.response_metrics.server_usage.completion_tokens "
                                 "is missing"));
  // A time of which nothing may be simulated: minutes up to it fill the memory.
  EXPECT_THAT(error(R"([{"start_time": 1, "info": {"input_tokens": 5, "output_tokens": 1}},
                        {"start_time": 1e15, "info": {"input_tokens": 5, "output_tokens": 1}}])"),
              testing::HasSubstr("request 2: start_time is 1e+15, which is later than the year"));
}

TEST_F(Logs, OfGuidellmHaveTheRequestsOfAllBenchmarks) {
  expect_two(read(R"({
  "metadata": {"guidellm_version": "0.4.0"},
  "benchmarks": [
    {"type_": "generative_benchmark",
     "requests": {"successful": [{"request_start_time": 1759813207.5, "prompt_tokens": 100,
                                  "output_tokens": 10, "time_to_first_token_ms": 12.5}],
                  "incomplete": [], "errored": [{"prompt_tokens": 5}]}},
    {"type_": "generative_benchmark",
     "requests": {"successful": [{"start_time": 1759813208.5, "prompt_tokens": 200,
                                  "output_tokens": 20}]}}]
})"),
             {"the report has 2 benchmarks, whose requests are one log by their times; to simulate "
              "one of them, keep it alone in the file"});
  EXPECT_THAT(error(R"({"benchmarks": [{}]})"),
              testing::HasSubstr("has no list requests.successful"));
  // As version 0.6 writes it: one line, in which each request has its times and counts again
  // inside.
  expect_two(read(R"({"metadata": {"version": 1, "guidellm_version": "0.6.0"}, "args": {}, )"
                  R"("benchmarks": [{"start_time": 1759813200, "requests": {"total": null, )"
                  R"("incomplete": [], "errored": [{"prompt_tokens": 5}], "successful": [)"
                  R"({"request_args": "{\"timestamp\": 1}", "info": {"timings": )"
                  R"({"request_start": 1759813207.5, "request_end": 1759813208}}, )"
                  R"("input_metrics": {"text_tokens": 100, "total_tokens": 100}, )"
                  R"("request_start_time": 1759813207.5, "prompt_tokens": 100, )"
                  R"("cached_tokens": null, "output_tokens": 10}, )"
                  R"({"request_start_time": 1759813208.5, "prompt_tokens": null, )"
                  R"("input_metrics": {"text_tokens": 200}, "output_tokens": 20}]}}]})"),
             {});
}

TEST_F(Logs, OfAiperfAreRecordsInNanoseconds) {
  const std::string whole =
      R"({"metadata": {"session_num": 0, "request_start_ns": 1759813207532900363}, "metrics": )"
      R"({"input_sequence_length": {"value": 100, "unit": "tokens"}, )"
      R"("output_sequence_length": {"value": 10, "unit": "tokens"}}, "error": null})"
      "\n"
      R"({"metadata": {"session_num": 1, "request_start_ns": 1759813208532900363}, "metrics": )"
      R"({"input_sequence_length": {"value": 200, "unit": "tokens"}, )"
      R"("output_sequence_length": {"value": 20, "unit": "tokens"}}, "error": null})"
      "\n"
      R"({"metadata": {"session_num": 2, "request_start_ns": 1759813208532900364}, "metrics": )"
      R"({"error_isl": {"value": 550, "unit": "tokens"}}, "error": {"code": 499}})"
      "\n";
  expect_two(read(whole));
  EXPECT_THAT(error(whole + R"({"metadata": {"request_start_ns": 1}, "metrics": {}})"),
              testing::AllOf(testing::HasSubstr("log.csv:4"),
                             testing::HasSubstr("metrics.input_sequence_length.value is missing")));
}

TEST_F(Logs, OfVllmsBenchmarkAreListsByRequest) {
  const std::string head = R"({"date": "20260901", "backend": "vllm", "num_prompts": 3,
      "request_rate": 1.0, )";
  const std::string lists = R"("input_lens": [100, 200, 300], "output_lens": [10, 20, 0],
      "start_times": [812.5, 813.5, 813.75], "errors": ["", "", "Service Unavailable"]})";
  std::string whole = head + lists;
  std::erase(whole, '\n');
  expect_two(read(whole));
  // The lists alone tell the format.
  expect_two(read("{" + lists));
  // Without --save-detailed there are totals only.
  EXPECT_THAT(error(R"({"num_prompts": 3, "request_rate": 1.0, "total_input_tokens": 600})"),
              testing::AllOf(testing::HasSubstr("log.csv: has no list start_times"),
                             testing::HasSubstr("--save-detailed")));
  EXPECT_THAT(error(R"({"num_prompts": 1, "request_rate": 1.0, "start_times": [1.0],
      "input_lens": [5, 6], "output_lens": [1], "errors": [""]})"),
              testing::HasSubstr("input_lens has 2 values, but start_times has 1"));
}

}  // namespace
}  // namespace almanac::inference
