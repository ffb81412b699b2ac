// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference profile, and what a platform engineer does with its result.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "inference/command_fixture.h"
#include "process/job.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A stand-in for a model server, as model_server.cpp has it.
class MeasuredServer : public InferenceCommand {
 protected:
  void start(const std::string& port, const std::vector<std::string>& told) {
    std::vector<std::string> words{MODEL_SERVER, port};
    words.insert(words.end(), told.begin(), told.end());
    auto begun = process::Job::start({.argv = words});
    ASSERT_TRUE(begun);
    server_.emplace(std::move(*begun));
    url_ = "http://127.0.0.1:" + port;
    httplib::Client http(url_);
    for (int each = 0; each < 1000 && !http.Get("/health"); ++each) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ProgramRun measure(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"inference",   "profile",    url_,    "--prompts",
                                   "100,400,800", "--together", "1,4",   "--output-tokens",
                                   "8",           "--out",      profile_};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  static json figure(const json& told, const std::string& name) {
    for (const json& each : told["held_out"]) {
      if (each["figure"] == name) return each;
    }
    ADD_FAILURE() << name;
    return {};
  }

  std::optional<process::Job> server_;
  std::string url_;
  std::string profile_ = folder_ / "profile.csv";
};

TEST_F(MeasuredServer, OfOneThatBatchesIsDescribed) {
  // A step takes 10 ms, a token of a prompt adds 50 us; a busy machine adds to both.
  start("18941", {"10", "50", "0", "16"});
  const ProgramRun made = measure({"-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json told = json::parse(made.out);
  EXPECT_EQ(told["model"], "stand-in");
  ASSERT_EQ(told["measured"].size(), 6);
  for (const json& each : told["measured"]) {
    const double prompt_ms = 0.05 * each["prompt_tokens"].get<double>();
    const double ttft_ms = each["ttft_ms"].get<double>();
    EXPECT_GE(ttft_ms, 10 + prompt_ms);
    // A first token that is heard late leaves less time for the others.
    EXPECT_GE(ttft_ms + 7 * each["tpot_ms"].get<double>(), 8 * 10 + prompt_ms);
  }
  EXPECT_EQ(told["slots"], 0);
  EXPECT_EQ(told["describes_server"], told["warning"] == "");
  // How near these are hangs on what else the machine does: unit tests say it.
  EXPECT_GE(figure(told, "TPOT mean")["simulated_ms"], 10);
  EXPECT_GE(figure(told, "E2E mean")["measured_ms"], 8 * 10);
  const ProgramRun played =
      run("explain", {"--profile", profile_, "--request", "40", "-o", "json"});
  ASSERT_EQ(played.status, 0) << played.err;
  // By the roofline its prompt of 1,000 tokens would take less than 50 ms.
  EXPECT_GE(json::parse(played.out)["ttft_ms"], 45);
  const ProgramRun without =
      run_program({"inference", "simulate", requests_, "--profile", profile_});
  EXPECT_THAT(without.err, HasSubstr("not the memory of a token"));
}

TEST_F(MeasuredServer, OfOneThatAnswersOneRequestAtATimeIsDescribed) {
  start("18943", {"10", "20", "0", "1"});
  const ProgramRun made = measure({"-o", "json", "--repeats", "1"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json told = json::parse(made.out);
  EXPECT_EQ(told["slots"], 1);
  // By the profile requests wait for one another too: the longest prompt takes 26 ms.
  EXPECT_GT(figure(told, "TTFT mean")["simulated_ms"], 34);
  // Twenty requests at once wait for one another: the last for 19 answers of 200 tokens.
  const ProgramRun played =
      run("explain", {"--profile", profile_, "--request", "20", "-o", "json"});
  ASSERT_EQ(played.status, 0) << played.err;
  EXPECT_GE(json::parse(played.out)["waited_ms"], 0.8 * 19 * 200 * 10);
  EXPECT_THAT(played.err, HasSubstr("its server handled 1 request at a time"));
}

TEST_F(MeasuredServer, ThatPausesIsNotDescribedAndAllWhoAskHearIt) {
  // Every tenth step takes 300 ms more.
  start("18944", {"10", "20", "0", "16", "0", "300"});
  const ProgramRun made = measure({"--repeats", "1"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("does not describe its server: of 64 held-out requests, "));
  EXPECT_THAT(made.err, HasSubstr("the server pauses"));
  for (const char* command : {"simulate", "size"}) {
    const ProgramRun asked = run(command, {"--profile", profile_});
    EXPECT_THAT(asked.err, HasSubstr("does not describe its server")) << command;
  }
}

TEST_F(MeasuredServer, NeedsWhatItAsks) {
  url_ = "http://127.0.0.1:18942";
  const ProgramRun few =
      run_program({"inference", "profile", url_, "--prompts", "100,400", "--out", profile_});
  EXPECT_THAT(few.err, HasSubstr("--prompts 100,400 has 2 prompt lengths; 3 are needed"));
  const ProgramRun crowded =
      run_program({"inference", "profile", url_, "--together", "4,8", "--out", profile_});
  EXPECT_THAT(crowded.err, HasSubstr("--together 4,8 must include 1"));
  const ProgramRun nobody = measure();
  EXPECT_NE(nobody.status, 0);
  EXPECT_THAT(nobody.err, HasSubstr("returned no completion"));
}

/// From a log to a size, a plan, what deploys it, a profile of the server and a report.
TEST_F(MeasuredServer, IsWhereThePlatformEngineersTourEnds) {
  std::string rows = "arrival_s,prompt_tokens,output_tokens,model\n";
  for (int each = 0; each < 40; ++each) {
    rows += std::to_string(each / 4) + ",500,20," +
            (each / 4 % 2 == 0 ? "llama-3.1-8b" : "qwen2.5-7b") + "\n";
  }
  requests_ = folder_.write("models.csv", rows);
  const ProgramRun sized = run("size", {"--confidence", "0", "-o", "json"});
  ASSERT_EQ(sized.status, 0) << sized.err;
  const int replicas = json::parse(sized.out)["replicas"];
  EXPECT_EQ(replicas, 1);

  const std::string plan = folder_ / "plan.csv";
  const ProgramRun planned = run_program({"inference", "plan", requests_, "--total", "2", "--ttft",
                                          "300ms", "--out", plan, "-o", "json"});
  ASSERT_EQ(planned.status, 0) << planned.err;
  EXPECT_EQ(json::parse(planned.out)["all"]["attainment"], 1);

  const std::string yaml = folder_ / "service.yaml";
  ASSERT_EQ(run("size", {"--confidence", "0", "--emit", "kserve", "--out", yaml}).status, 0);
  std::ifstream written(yaml);
  const std::string text(std::istreambuf_iterator<char>(written), {});
  EXPECT_THAT(text, HasSubstr("kind: LLMInferenceService"));
  EXPECT_THAT(text, HasSubstr("replicas: " + std::to_string(replicas)));

  // A step of this server takes 10 ms, so 20 tokens take no less than 190 ms after the first.
  start("18945", {"10", "50", "0", "16"});
  ASSERT_EQ(measure({"--repeats", "1"}).status, 0);
  const std::string report = folder_ / "report";
  const ProgramRun reported = run("report", {"--profile", profile_, "--out", report, "-o", "json"});
  ASSERT_EQ(reported.status, 0) << reported.err;
  EXPECT_TRUE(std::filesystem::exists(report + "/report.html"));
  const ProgramRun again = run("simulate", {"--profile", profile_, "-o", "json"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_GE(json::parse(again.out)["tpot_ms"]["p50"], 10);
}

/// A profile of a real server, and how far the simulation of the held-out requests is off.
TEST_F(MeasuredServer, IsPredictedWhereItIsReal) {
  const char* const url = std::getenv("ALMANAC_MODEL_SERVER");
  if (url == nullptr) {
    GTEST_SKIP() << "NOTHING WAS COMPARED WITH A REAL MODEL SERVER. Start one on a machine with a "
                    "GPU (`vllm serve MODEL`) and set ALMANAC_MODEL_SERVER=http://HOST:PORT.";
  }
  const ProgramRun made =
      run_program({"inference", "profile", url, "--out", profile_, "-o", "json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json told = json::parse(made.out);
  for (const json& each : told["held_out"]) {
    std::cout << told["model"] << ' ' << each["figure"] << ": measured " << each["measured_ms"]
              << " ms, simulated " << each["simulated_ms"] << " ms\n";
  }
  EXPECT_EQ(told["describes_server"], true) << told["warning"];
}

}  // namespace
}  // namespace almanac
