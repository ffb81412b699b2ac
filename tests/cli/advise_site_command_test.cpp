// SPDX-License-Identifier: Apache-2.0

/// \file
/// Advice on a recorded scenario of a real Slurm, with the files of its site.
#include <filesystem>
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

class AdviseSiteCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = shared_path("golden/slurm/p01_fairtree_all_factors");
    if (!found) GTEST_SKIP() << "golden/slurm is not available";
    site_ = *found;
  }
  ProgramRun advise(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"advise", site_ + "/sacct.txt", "--cluster", site_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(std::move(arguments));
  }

  std::string site_;
  TemporaryFolder folder_;
};

TEST_F(AdviseSiteCommand, SaysFirstHowWellItReproducesTheLog) {
  const ProgramRun done = advise({"-p", "easy"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out,
              testing::StartsWith("Simulated with the settings of your site, the waits of "
                                  "100 % of 62 jobs are within 10 minutes"));
  EXPECT_THAT(done.out, HasSubstr("This says little: no job waited longer than 10 minutes."));
  EXPECT_THAT(done.out, HasSubstr("your Slurm (simulated)"));
}

TEST_F(AdviseSiteCommand, SimulatesOneChange) {
  const ProgramRun done = advise({"--what-if", "PriorityWeightAge=0", "-o", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json advice = json::parse(done.out);
  EXPECT_TRUE(advice["policies"].empty());
  EXPECT_TRUE(advice["knobs"].is_null());
  EXPECT_EQ(advice["what_if"]["settings"][0]["name"], "PriorityWeightAge");
  EXPECT_EQ(advice["what_if"]["lines"][0]["text"], "PriorityWeightAge=0");
  EXPECT_EQ(advice["what_if"]["before"]["avg_wait_s"], advice["stock"]["avg_wait_s"]);

  const ProgramRun same = advise({"--what-if", "bf_window=1440"});
  EXPECT_THAT(same.out, HasSubstr("Nothing would change"));
}

TEST_F(AdviseSiteCommand, RefusesSettingsThatNobodyKnows) {
  const ProgramRun none = advise({"--what-if", ""});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--what-if must not be empty"));
  const ProgramRun done = advise({"--what-if", "PriorityWeightAgee=0"});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("did you mean PriorityWeightAge?"));
  const ProgramRun no_site =
      run_program({"advise", site_ + "/sacct.txt", "--cluster", "8x8", "--what-if", "bf_continue"});
  EXPECT_EQ(no_site.status, 2);
  EXPECT_THAT(no_site.err, HasSubstr("--what-if changes the settings of a Slurm site"));
}

TEST_F(AdviseSiteCommand, WritesAReport) {
  const ProgramRun done = advise({"--what-if", "bf_max_job_test=10", "--out", folder_ / "advice"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "advice/advice.json"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "advice/advice_sizes.csv"));
}

TEST(SweepOnASite, SimulatesAGeneratedLogUnderTheSitesSlurm) {
  const TemporaryFolder folder;
  const std::string workload = folder / "workload.toml";
  const ProgramRun made = run_program({"trace", "generate", "--preset", "venus", "--jobs", "300",
                                       "--save-workload", workload, "--out", folder / "log.csv"});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto table_under = [&](const std::string& scheduler) {
    const std::string conf = folder.write(
        scheduler + "/slurm.conf",
        "ClusterName=x\nSchedulerType=sched/" + scheduler +
            "\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n"
            "NodeName=n[1-8] CPUs=48 CoresPerSocket=48 RealMemory=400000 Gres=gpu:8\n"
            "PartitionName=all Nodes=ALL Default=YES\n");
    const ProgramRun done =
        run_program({"sweep", workload, "--cluster", conf, "--policy", "slurm", "--load", "1",
                     "--seeds", "1", "--out", folder / (scheduler + ".csv")});
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  };
  EXPECT_NE(table_under("backfill"), table_under("builtin")) << "one of them has no backfill";
}

}  // namespace
}  // namespace almanac
