// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "support/temporary_folder.h"

namespace almanac::cluster {
namespace {

using testing::Contains;
using testing::HasSubstr;

class SlurmFile : public testing::Test {
 protected:
  Cluster read(const std::string& name, std::string_view text) {
    auto made = read_cluster(folder_.write(name, text));
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::move(*made) : Cluster{};
  }
  /// The error from the file's name on.
  std::string error(const std::string& name, std::string_view text) {
    const auto made = read_cluster(folder_.write(name, text));
    if (made) return "no error";
    const std::string all = to_string(made.error());
    return all.substr(all.find(name));
  }
  TemporaryFolder folder_;
};

TEST_F(SlurmFile, ReadsSinfoAndSaysWhatItLacks) {
  const Cluster made = read("sinfo.txt",
                            "NODELIST PARTITION CPUS MEMORY GRES STATE\n"
                            "g[001-002] gpu* 48 393216 gpu:v100:8(S:0-1) idle\n"
                            "g[001-002] debug 48 393216 gpu:v100:8(S:0-1) idle\n"
                            "c1 cpu 64+ 131072 (null) drain*\n");
  ASSERT_EQ(made.vcs.size(), 2U);
  EXPECT_EQ(made.vcs[1].name, "debug+gpu");
  EXPECT_EQ(made.gpus(), 16);
  const Cluster piped = read("piped.txt", "NODELIST|GRES\ng1|gpu:4\ng2|gpu:4\n");
  EXPECT_EQ(piped.gpus(), 8);
  EXPECT_THAT(piped.notes, Contains(HasSubstr("this sinfo output lacks cores (%c), memory (%m)")));
  EXPECT_THAT(
      error("plain.txt",
            "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
            "gpu*         up   infinite      2   idle g[001-002]\n"),
      HasSubstr("plain.txt:1: this output of sinfo has no column GRES, so it lists no GPUs"));
  EXPECT_THAT(
      error("long.txt",
            "Thu Nov 26 23:00:00 2026\n"
            "NODELIST   NODES PARTITION  STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT REASON\n"
            "g001           1      gpu*   idle 48     2:12:2 385000        0      1 none\n"),
      HasSubstr("sinfo -N -o \"%N|%P|%c|%m|%G|%T\""));
  EXPECT_THAT(error("row.txt", "NODELIST GRES\ng1 gpu:4\ng2\n"),
              HasSubstr("row.txt:3: 2 columns by the header, found 1"));
  EXPECT_THAT(error("twice.txt", "NODELIST PARTITION GRES\ng1 a gpu:4\ng1 b gpu:8\n"),
              HasSubstr("twice.txt:3: node g1 has other GPUs in line 2"));
}

}  // namespace
}  // namespace almanac::cluster
