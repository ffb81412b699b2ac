// SPDX-License-Identifier: Apache-2.0
#include "study/failure_table.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "table/stream.h"
#include "trace/read.h"

namespace almanac::study {
namespace {

const failure::RuleSet& builtin() {
  static const failure::RuleSet set = failure::RuleSet::compile(failure::builtin_rules()).value();
  return set;
}

failure::JudgedLog judged(const std::string& path, const std::string& content) {
  failure::Classifier classifier(builtin());
  classifier.feed(content);
  return {.path = path,
          .name = failure::read_log_name(path),
          .verdict = classifier.finish(),
          .bytes = static_cast<std::int64_t>(content.size())};
}

/// Three jobs: 11 failed after 10 min on 8 GPUs, 12 completed, 13 failed after 20 min on 1 GPU.
trace::Trace small_trace() {
  const TemporaryFolder folder;
  return trace::read_trace(folder.write("t.csv",
                                        "job_id,submit_s,run_s,gpus,user,state\n"
                                        "11,0,600,8,ann,FAILED\n12,1,60,1,bob,COMPLETED\n"
                                        "13,2,1200,1,ann,FAILED\n14,3,5,1,cem,CANCELLED\n"))
      .value();
}

constexpr const char* kTypeError = "TypeError: x\n";

TEST(FailureTrials, TakeOutAndErrOfAnAttemptTogether) {
  const std::vector<failure::JudgedLog> logs{judged("slurm-11.err", kTypeError),
                                             judged("slurm-11.out", "CUDA out of memory\n"),
                                             judged("slurm-13.out", kTypeError)};
  const FailureTrials trials = join_failures(logs, builtin(), nullptr);
  ASSERT_EQ(trials.trials.size(), 2U);
  EXPECT_EQ(trials.trials[0].log, 1U);
  EXPECT_EQ(trials.trials[0].job_id, "11");
}

TEST(FailureTrials, LeaveOutWhatTheTraceKnowsToHaveGoneWell) {
  const trace::Trace trace = small_trace();
  const std::vector<failure::JudgedLog> logs{
      judged("11.out", kTypeError), judged("12.out", kTypeError), judged("14.out", "stopped\n"),
      judged("99.out", kTypeError)};
  const FailureTrials trials = join_failures(logs, builtin(), &trace);
  ASSERT_EQ(trials.trials.size(), 2U);
  EXPECT_EQ(trials.logs_joined, 3);
  EXPECT_EQ(trials.succeeded, 1);
  EXPECT_EQ(trials.cancelled, 1);
  EXPECT_EQ(trials.trials[0].gpus, 8);
  EXPECT_EQ(trials.trials[0].runtime_s, 600);
  EXPECT_FALSE(trials.trials[1].job);
}

TEST(FailureTrials, TakeTheRunTimeOfTheAttempt) {
  const TemporaryFolder folder;
  // Failed after 5 min on 2 GPUs, then passed.
  const trace::Trace trace =
      trace::read_trace(
          folder.write(
              "j.json",
              R"([{"status":"Pass","vc":"v","jobid":"application_1506638472019_10238","attempts":[
{"start_time":"2017-10-01 10:00:00","end_time":"2017-10-01 10:05:00","detail":[{"ip":"m1","gpus":["gpu0","gpu1"]}]},
{"start_time":"2017-10-01 10:06:00","end_time":"2017-10-01 12:00:00","detail":[{"ip":"m1","gpus":["gpu0","gpu1"]}]}],
"submitted_time":"2017-10-01 09:00:00","user":"u"}])"))
          .value();
  const std::string job = "application_1506638472019_10238";
  const std::vector<failure::JudgedLog> logs{judged(job + "/1/stdout.log", kTypeError),
                                             judged(job + "/2/stdout.log", "")};
  const FailureTrials trials = join_failures(logs, builtin(), &trace);
  ASSERT_EQ(trials.trials.size(), 1U);
  EXPECT_EQ(trials.trials[0].runtime_s, 300);
  EXPECT_EQ(trials.trials[0].gpus, 2);
  EXPECT_EQ(trials.succeeded, 1);
}

TEST(FailureTable, CountsAsPhillysDoes) {
  const trace::Trace trace = small_trace();
  const std::vector<failure::JudgedLog> logs{judged("11.out", "CUDA out of memory\n"),
                                             judged("13.out", kTypeError)};
  const FailureTrials trials = join_failures(logs, builtin(), &trace);
  const figure::Figure table = draw_failure_table(trials, logs, builtin(), &trace).figure;
  // 10 min x 8 GPUs cost more than 20 min x 1.
  EXPECT_EQ(table["category"].texts,
            (std::vector<std::string>{"GPU out of memory", "Semantic error"}));
  EXPECT_EQ(table["rtf_p50_min"].numbers, (std::vector<double>{10, 20}));
  EXPECT_EQ(table["rtf_x_demand_gpu_min"].numbers, (std::vector<double>{80, 20}));
  EXPECT_EQ(table["rtf_x_demand_percent"].numbers, (std::vector<double>{80, 20}));
  EXPECT_EQ(table["demand_over_4"].numbers, (std::vector<double>{1, 0}));
  EXPECT_EQ(table["users"].numbers, (std::vector<double>{1, 1}));
}

TEST(FailureTable, OfNothingHasNoRows) {
  const FailureTrials none = join_failures({}, builtin(), nullptr);
  const Drawing drawing = draw_failure_table(none, {}, builtin(), nullptr);
  EXPECT_EQ(drawing.figure.rows(), 0U);
  EXPECT_TRUE(drawing.findings.empty());
}

TEST(Verdicts, QuoteTheLineThatDecided) {
  const std::vector<failure::JudgedLog> logs{judged("11.out", "a\nTypeError: b, \"c\"\n"),
                                             judged("13.out", "")};
  const FailureTrials trials = join_failures(logs, builtin(), nullptr);
  const TemporaryFolder folder;
  ASSERT_TRUE(write_verdicts(folder / "v.csv", trials, logs, builtin()));
  const std::string text = table::read_file(folder / "v.csv").value();
  EXPECT_NE(text.find("\n11.out,11,,Semantic error,IF U,root,python-semantic,2,"
                      "\"TypeError: b, \"\"c\"\"\","),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n13.out,13,,No signature,,,,,,\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace almanac::study
