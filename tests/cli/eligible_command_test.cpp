// SPDX-License-Identifier: Apache-2.0

/// \file
/// A chain of jobs submitted at once, beside the same log in which each was submitted when it
/// became eligible: every command says the same of both.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class EligibleCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = shared_path("data/cases/eligible_counted_as_wait");
    if (!found) GTEST_SKIP() << "data/cases/eligible_counted_as_wait is not at hand";
    chain_ = *found + "/chain.txt";
    same_ = *found + "/chain_elig.txt";
  }
  static json said(std::vector<std::string> arguments) {
    const ProgramRun done = run_program(std::move(arguments));
    EXPECT_EQ(done.status, 0) << done.err;
    return json::parse(done.out);
  }

  std::string chain_;
  std::string same_;
  TemporaryFolder folder_;
};

TEST_F(EligibleCommand, InfoCountsWaitsFromThen) {
  const json chain = said({"trace", "info", chain_, "-o", "json"});
  const json same = said({"trace", "info", same_, "-o", "json"});
  EXPECT_EQ(chain["wait_s"], same["wait_s"]);
  EXPECT_NEAR(chain["wait_s"]["mean"], 3.8, 0.05);
  EXPECT_EQ(chain["wait_from"], "eligible");
}

TEST_F(EligibleCommand, AdviseHasNothingToGain) {
  for (const std::string& log : {chain_, same_}) {
    const json advice =
        said({"advise", log, "--cluster", "4x8", "-p", "conservative,drf", "-o", "json"});
    EXPECT_THAT(std::string(advice["recommendation"]),
                HasSubstr("jobs wait only 3.8s on average, so there is nothing to gain"))
        << log;
    EXPECT_EQ(advice["reproduces"], true) << log;
    EXPECT_NEAR(advice["real"]["avg_wait_s"], 3.8, 0.05) << log;
  }
}

TEST_F(EligibleCommand, StudyFindsNoGpusKeptFromJobs) {
  for (const std::string& log : {chain_, same_}) {
    const ProgramRun done =
        run_program({"study", log, "--cluster", "4x8", "--out", folder_ / "study"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, Not(HasSubstr("enough GPUs were free when the"))) << log;
  }
}

TEST_F(EligibleCommand, SimulatedJobsOfAChainNeverRunAtOnce) {
  const ProgramRun done = run_program(
      {"simulate", chain_, "--cluster", "4x8", "--policy", "fifo,srtf", "--out", folder_ / "run"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Every row averages over the same 224 jobs.")) << done.out;
  EXPECT_THAT(done.err, HasSubstr("depend on another")) << done.err;
}

}  // namespace
}  // namespace almanac
