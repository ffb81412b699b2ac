// SPDX-License-Identifier: Apache-2.0

/// \file
/// predict train, evaluate and explain, and a simulation that begins with a trained model.
#include <cmath>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "predict/testing_log.h"
#include "support/run_program.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Jobs 5 min apart from 2020-01-01 on; the 401st is submitted on 2020-01-02 at 09:20.
std::string log_text(std::size_t jobs) {
  const trace::Trace log = predict::testing_log(jobs);
  std::string text = "job_id,submit_s,run_s,gpus,user,name,state\n";
  constexpr double kBegin = 1'577'836'800;
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    const trace::Job& job = log.jobs[at];
    text += fmt::format("{},{:.0f},{:.3f},{},{},{},{}\n", at + 1,
                        kBegin + seconds(job.request.submit), seconds(job.outcome.run),
                        job.request.gpus, log.names[job.request.user], log.names[job.request.name],
                        job.outcome.state == trace::JobState::completed ? "COMPLETED" : "FAILED");
  }
  return text;
}

class PredictCommand : public testing::Test {
 protected:
  ProgramRun train(const std::string& log, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"predict", "train", log, "--out", model_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  ProgramRun simulate(const std::string& log, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"simulate", log, "--cluster", "1x8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  /// The log from its 401st job on: what a model of the first day is to be tried on.
  std::string later() {
    const std::string text = log_text(600);
    const std::size_t header = text.find('\n') + 1;
    return folder_.write("later.csv",
                         text.substr(0, header) + text.substr(text.find("\n401,") + 1));
  }

  TemporaryFolder folder_;
  std::string log_ = folder_.write("log.csv", log_text(600));
  std::string model_ = folder_ / "model";
};

TEST_F(PredictCommand, EvaluatesAsAList) {
  const ProgramRun done =
      run_program({"predict", "evaluate", log_, "--from", "2020-01-02 09:20:00", "-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json list = json::parse(done.out);
  std::set<std::string> names;
  for (const json& each : list) {
    names.insert(each.at("name").get<std::string>());
    EXPECT_EQ(each.at("jobs"), 200);
    EXPECT_GT(each.at("mae_s").get<double>(), 0);
    EXPECT_GT(each.at("median_abs_log10_error").get<double>(), 0);
    EXPECT_LE(std::abs(each.at("spearman_gpu_time").get<double>()), 1);
    EXPECT_GE(each.at("coverage_90").get<double>(), 0);
    std::set<std::string> by;
    for (const json& group : each.at("groups")) by.insert(group.at("by").get<std::string>());
    EXPECT_EQ(by, (std::set<std::string>{"gpus", "history", "age", "user", "length"}));
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"learned", "rolling", "global_median", "last_run"}));
}

TEST_F(PredictCommand, SaysWhenThereIsNothingToTest) {
  const ProgramRun done = run_program({"predict", "evaluate", log_, "--from", "2021-01-01"});
  EXPECT_NE(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("no job was submitted from 2021-01-01"));
}

TEST_F(PredictCommand, ExplainsOneJob) {
  ASSERT_EQ(train(log_).status, 0);
  const ProgramRun done =
      run_program({"predict", "explain", log_, "500", "--model", model_, "-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json object = json::parse(done.out);
  EXPECT_EQ(object["job_id"], "500");
  EXPECT_LE(object["low_s"].get<double>(), object["high_s"].get<double>());
  EXPECT_GT(object["reasons"].size(), 3U);
  // Run times lean to the long side: the mean lies above the median.
  EXPECT_GT(object["mean_s"].get<double>(), object["median_s"].get<double>());
  const ProgramRun text = run_program({"predict", "explain", log_, "500", "--model", model_});
  EXPECT_THAT(text.out, HasSubstr("Most likely run time of job 500: "));
  double least = 1;
  double believed = 1;
  for (const json& each : object["predictors"]) {
    EXPECT_GE(each["expected_s"].get<double>(), 1);
    least = std::min(least, each["regret"].get<double>());
    if (each["believed"].get<bool>()) believed = each["regret"].get<double>();
  }
  EXPECT_LT(least, 1);
  EXPECT_LE(0.95 * believed, least);
  const ProgramRun none = run_program({"predict", "explain", log_, "x", "--model", model_});
  EXPECT_THAT(none.err, HasSubstr("unknown job x"));
}

TEST_F(PredictCommand, SaysThatAFirstJobHasNoPast) {
  const ProgramRun first = run_program({"predict", "explain", log_, "1"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("no job had ended when job 1 was submitted: the figures are not "
                                   "from this log"));
  EXPECT_THAT(first.out, testing::Not(HasSubstr("proven")));
  const json object = json::parse(run_program({"predict", "explain", log_, "1", "-o", "json"}).out);
  const double ran_s = object["ran_s"];
  EXPECT_EQ(ran_s, std::round(1e3 * ran_s) / 1e3) << "to the millisecond, as the log says";
}

TEST_F(PredictCommand, ExplainsNoRunTimeAboveTheLimit) {
  const std::string log = folder_ / "limited.csv";
  std::ofstream(log) << "job_id,submit_s,run_s,gpus,time_limit_s\n1,1577836800,100,1,300\n";
  const ProgramRun done = run_program({"predict", "explain", log, "1", "-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json object = json::parse(done.out);
  for (const char* const figure : {"typical_s", "median_s", "mean_s", "low_s", "high_s"}) {
    EXPECT_LE(object[figure].get<double>(), 300 + 1e-6) << figure;
  }
  EXPECT_THAT(run_program({"predict", "explain", log, "1"}).out,
              HasSubstr("Below 15 min: 100.0 %; 15 min to 6 h: 0.0 %; above 6 h: 0.0 %."));
}

TEST_F(PredictCommand, TrainsOnEnoughOnly) {
  const ProgramRun few = train(log_, {"--until", "2020-01-01 06:00:00"});
  EXPECT_NE(few.status, 0);
  EXPECT_THAT(few.err, HasSubstr("a model needs 200 GPU jobs that ended"));
}

TEST_F(PredictCommand, SimulatesWithAModelAndRepeatsIt) {
  ASSERT_EQ(train(log_, {"--until", "2020-01-02 09:20:00"}).status, 0);
  const std::string run = folder_ / "run";
  const ProgramRun cold = simulate(later(), {"--policy", "qssf", "-o", "json"});
  const ProgramRun warm =
      simulate(later(), {"--policy", "qssf", "-o", "json", "--model", model_, "--out", run});
  ASSERT_EQ(warm.status, 0) << warm.err;
  EXPECT_NE(json::parse(cold.out)[0]["signature"], json::parse(warm.out)[0]["signature"]);
  const ProgramRun again = run_program({"rerun", run});
  EXPECT_EQ(again.status, 0) << again.err;
  // Another model under the same name is another experiment.
  ASSERT_EQ(train(log_, {"--until", "2020-01-02 06:00:00"}).status, 0);
  EXPECT_NE(run_program({"rerun", run}).status, 0);
}

TEST_F(PredictCommand, RefusesAModelThatKnowsTheFuture) {
  ASSERT_EQ(train(log_).status, 0);
  const ProgramRun done = simulate(later(), {"--policy", "qssf", "--model", model_});
  EXPECT_NE(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("the model would know the future"));
  EXPECT_THAT(done.err, HasSubstr("--until"));
}

TEST_F(PredictCommand, RefusesWhatIsNoModelInOneLine) {
  ASSERT_EQ(train(log_, {"--until", "2020-01-02 09:20:00"}).status, 0);
  const auto error = [&](const std::string& policy, const std::string& model) {
    const ProgramRun done = simulate(later(), {"--policy", policy, "--model", model});
    EXPECT_NE(done.status, 0);
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    return done.err;
  };
  EXPECT_THAT(error("qssf", log_), HasSubstr("not a model of almanac predict train"));
  EXPECT_THAT(error("qssf", folder_ / "none"), HasSubstr("none"));
  EXPECT_THAT(error("fifo", model_), HasSubstr("none of the policies uses a learned estimate"));
  std::ifstream stream(model_, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(error("qssf", folder_.write("cut", bytes.substr(0, bytes.size() - 9))),
              HasSubstr("cut off"));
  bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 1);
  EXPECT_THAT(error("qssf", folder_.write("bad", bytes)), HasSubstr("SHA-256"));
  bytes.replace(bytes.find("schema "), 8, "schema 9");
  EXPECT_THAT(error("qssf", folder_.write("other", bytes)), HasSubstr("schema 9"));
}

}  // namespace
}  // namespace almanac
