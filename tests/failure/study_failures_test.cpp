// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

std::string logs() {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/failure/logs";
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProgramRun study_failures(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"study", "failures"});
  return run_program(arguments);
}

TEST(StudyFailures, PrintsATableForPeople) {
  const ProgramRun run = study_failures({logs()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("GPU out of memory"), std::string::npos);
  EXPECT_NE(run.out.find("Use a smaller batch"), std::string::npos);
}

TEST(StudyFailures, LeavesThreeFiles) {
  const TemporaryFolder folder;
  const ProgramRun run = study_failures({logs(), "--out", folder / "out", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(content(folder / "out/failures.json"), run.out);
  EXPECT_EQ(nlohmann::json::parse(run.out)["trials"], 10);
  EXPECT_TRUE(content(folder / "out/philly_table7.csv").starts_with("category,class,trials,"));
  EXPECT_NE(content(folder / "out/verdicts.csv").find("torch-cuda-oom,7,RuntimeError: CUDA"),
            std::string::npos);
}

TEST(StudyFailures, JoinsATrace) {
  const TemporaryFolder folder;
  folder.write("slurm-11.out", "CUDA out of memory\n");
  folder.write("slurm-12.out", "KeyError: 'a'\n");
  const TemporaryFolder other;
  const std::string trace =
      other.write("t.csv",
                  "job_id,submit_s,run_s,gpus,user,state\n11,0,600,8,ann,FAILED\n"
                  "12,1,60,1,bob,COMPLETED\n");
  const ProgramRun run = study_failures({folder / "", "--trace", trace, "-o", "csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("\nGPU out of memory,AE,1,100,1,1,10,10,10,100,0,0,1,80,100,1,1,"),
            std::string::npos)
      << run.out;
  EXPECT_EQ(run.out.find("Semantic"), std::string::npos) << run.out;
}

TEST(StudyFailures, LeavesRatesForSimulations) {
  const TemporaryFolder folder;
  folder.write("slurm-11.out", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n");
  folder.write("slurm-12.out", "torch.distributed.DistBackendError: NCCL error in: a.cpp:1\n");
  folder.write("slurm-13.out", "KeyError: 'a'\n");
  folder.write("slurm-14.out", "torch.distributed.DistBackendError: NCCL error in: a.cpp:1\n");
  const TemporaryFolder other;
  // 180 GPU-days, and 10 node-days of the job on two nodes. The job that never ran is on one node,
  // so no network failed.
  const std::string trace = other.write("t.csv",
                                        "job_id,submit_s,run_s,gpus,state\n11,0,864000,8,FAILED\n"
                                        "12,1,432000,16,FAILED\n13,2,1728000,1,FAILED\n"
                                        "14,3,0,1,FAILED\n");
  const ProgramRun run =
      study_failures({folder / "", "--trace", trace, "--out", other / "out", "-o", "csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string model = content(other / "out/failures.toml");
  EXPECT_NE(model.find("2 of 4 failed attempts"), std::string::npos) << model;
  EXPECT_NE(model.find("of = \"gpu\"\nper_1000_days = 5.556  #"), std::string::npos) << model;
  EXPECT_NE(model.find("of = \"link\"\nper_1000_days = 100  #"), std::string::npos) << model;
  EXPECT_EQ(model.find("Semantic"), std::string::npos) << model;
  const ProgramRun played = run_program({"simulate", trace, "--cluster", "4x8", "--policy", "fifo",
                                         "--failures", other / "out/failures.toml"});
  EXPECT_EQ(played.status, 0) << played.err;
}

TEST(StudyFailures, TakesRulesOnTop) {
  const TemporaryFolder folder;
  const std::string rules = folder.write(
      "mine.toml",
      "[[category]]\nname = 'Mine'\nclass = ['U']\nrank = 99\nsuggestion = 'Ask me'\n"
      "[[category.rule]]\nid = 'mine'\npattern = 'loss: nan'\nexample = ['loss: nan']\n");
  const ProgramRun run = study_failures({logs(), "--rules", rules, "-o", "csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("\nMine,U,1,10,Ask me\n"), std::string::npos) << run.out;
}

TEST(StudyFailures, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_EQ(study_failures({}).status, 2);
  const ProgramRun no_folder = study_failures({folder / "none"});
  EXPECT_EQ(no_folder.status, 66);
  EXPECT_NE(no_folder.err.find("no such folder of logs"), std::string::npos) << no_folder.err;
  EXPECT_EQ(study_failures({folder / ""}).status, 66);
  EXPECT_EQ(study_failures({logs(), "--trace", folder / "none.csv"}).status, 66);
  EXPECT_EQ(study_failures({logs(), "-o", "xml"}).status, 2);
  const ProgramRun bad_rules =
      study_failures({logs(), "--rules", folder.write("r.toml", "[[categori]]\nname = 'x'\n")});
  EXPECT_EQ(bad_rules.status, 65);
  EXPECT_NE(bad_rules.err.find("r.toml:1:"), std::string::npos) << bad_rules.err;
  EXPECT_NE(bad_rules.err.find("did you mean category?"), std::string::npos) << bad_rules.err;
}

}  // namespace
}  // namespace almanac
