// SPDX-License-Identifier: Apache-2.0

/// \file
/// A sweep as a job array of a real Slurm: a part that fails, the rest kept, only it run again; an
/// array that is left running and gathered later.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/test_cluster.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTrace =
    "job_id,submit_s,run_s,gpus,user,vc,state\n"
    "1,0,100,8,ann,a,COMPLETED\n"
    "2,10,50,8,bob,a,FAILED\n"
    "3,20,10,1,ann,a,COMPLETED\n";

class SweepOnSlurm : public testing::Test {
 protected:
  /// What a user types, with --out in the folder of the test.
  std::string sweep(const std::string& out, const std::string& more = "") const {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    return fmt::format("{} sweep {} --cluster 1x8 --policy fifo,sjf --load 0.5,1,1.3 --out {} {}",
                       program == nullptr ? "almanac" : program, trace_, folder_ / out, more);
  }
  std::string content(const std::string& file) const {
    std::ifstream stream(folder_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryFolder folder_;
  std::string trace_ = folder_.write("trace.csv", kTrace);
};

TEST_F(SweepOnSlurm, KeepsWhatIsThereAndRunsOnlyWhatFailed) {
  SKIP_WITHOUT_SLURM(.nodes = 1);
  const TestCluster cluster({.nodes = 1});
  cluster.must(sweep("here.csv"));
  // Where part 2 is to lie is something else: it cannot be written.
  const std::string obstacle = folder_ / "there.csv.parts/2-of-3.json";
  fs::create_directories(obstacle + "/inside");
  const std::string command = sweep("there.csv", "--engine slurm --sbatch --time=5");
  const Said failed = cluster.run(command);
  EXPECT_EQ(failed.status, 69) << failed.out;
  EXPECT_THAT(failed.out, HasSubstr("3 of 3 parts to run"));
  EXPECT_THAT(failed.out, HasSubstr("2 of 3 parts done, 1 failed"));
  EXPECT_THAT(failed.out, HasSubstr("part 2/3 failed: almanac: "));
  EXPECT_THAT(failed.out, HasSubstr("there.csv.parts/2-of-3.json")) << "why is not told";
  EXPECT_FALSE(fs::exists(folder_ / "there.csv"));
  const std::string first = content("there.csv.parts/1-of-3.json");
  EXPECT_FALSE(first.empty());

  fs::remove_all(obstacle);
  const Said resumed = cluster.run(command);
  ASSERT_EQ(resumed.status, 0) << resumed.out;
  EXPECT_THAT(resumed.out, HasSubstr("1 of 3 parts to run"));
  EXPECT_EQ(content("there.csv"), content("here.csv"));
  const Said again = cluster.run(command);
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.out, Not(HasSubstr("job array"))) << "all is there";
}

TEST_F(SweepOnSlurm, LeavesItsArrayRunningAndGathersItLater) {
  SKIP_WITHOUT_SLURM(.nodes = 1);
  const TestCluster cluster({.nodes = 1});
  cluster.must(sweep("here.csv"));
  const std::string command = sweep("there.csv", "--engine slurm --parts 2 --sbatch --hold");
  const std::string memory = folder_ / "there.csv.parts/array.json";
  const Said left = cluster.run(fmt::format(
      "{} & p=$!; while kill -0 $p && ! [ -e {} ]; do sleep 0.1; done; kill -INT $p; wait $p",
      command, memory));
  EXPECT_EQ(left.status, 130) << left.out;
  EXPECT_THAT(left.out, HasSubstr("continues; run the same command again to collect its results"));
  const std::string job = cluster.must("squeue -h -o %F");
  EXPECT_THAT(left.out, HasSubstr("scancel " + job));
  const Said other = cluster.run(sweep("there.csv", "--engine slurm --parts 3"));
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.out, HasSubstr("other inputs or parts, is still running"));

  cluster.must("scontrol release " + job);
  const Said gathered = cluster.run(command);
  ASSERT_EQ(gathered.status, 0) << gathered.out;
  // It may have ended in between; nothing is submitted a second time in any case.
  EXPECT_THAT(gathered.out, Not(HasSubstr("parts to run")));
  EXPECT_EQ(content("there.csv"), content("here.csv"));
}

TEST_F(SweepOnSlurm, LeavesNoArrayThatItCannotRemember) {
  SKIP_WITHOUT_SLURM(.nodes = 1);
  const TestCluster cluster({.nodes = 1});
  // As soon as there is an array, something else lies where it is to be remembered.
  fs::create_directories(folder_ / "bin");
  folder_.write("bin/sbatch", fmt::format("#!/bin/sh\nmkdir -p {}\nexec {} \"$@\"\n",
                                          folder_ / "there.csv.parts/array.json/inside",
                                          cluster.must("command -v sbatch")));
  fs::permissions(folder_ / "bin/sbatch", fs::perms::owner_all);
  const Said failed = cluster.run(fmt::format(
      "PATH={}:$PATH {}", folder_ / "bin", sweep("there.csv", "--engine slurm --sbatch --hold")));
  EXPECT_EQ(failed.status, 69) << failed.out;
  EXPECT_THAT(failed.out, HasSubstr("could not be recorded and is cancelled"));
  EXPECT_EQ(cluster.must("squeue -h"), "");
}

}  // namespace
}  // namespace almanac::slurm
