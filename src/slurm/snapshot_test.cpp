// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/read.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Answers to commands by their beginning; others fail.
RunCommand answering(std::map<std::string, std::string> answers) {
  return [answers = std::move(answers)](const std::vector<std::string>& argv,
                                        Duration) -> Result<Printed> {
    const std::string asked = fmt::format("{}", fmt::join(argv, " "));
    for (const auto& [begin, said] : answers) {
      if (asked.starts_with(begin) && asked.find("Lineage") == std::string::npos) {
        return Printed{.out = said};
      }
    }
    return Printed{.err = "sacctmgr: error: Unknown field\nmore", .status = 1};
  };
}

TEST(Snapshot, WritesAFolderThatIsASite) {
  const TemporaryFolder folder;
  const std::string conf = folder.write("etc/slurm.conf",
                                        "ClusterName=x\nAccountingStoragePass = secret\n"
                                        "Include nodes.conf\nPartitionName=p Nodes=ALL\n");
  folder.write("etc/nodes.conf", "NodeName=n[1-2] CPUs=8 Gres=gpu:4\n");
  const auto made = take_snapshot(
      folder / "site",
      answering(
          {{"scontrol show config",
            "Configuration data as of 1\nSLURM_VERSION = 23.02.1\nSLURM_CONF = " + conf + "\n"},
           {"scontrol show node", "NodeName=n1 CPUTot=8 Gres=gpu:4 State=DRAIN\n"},
           {"scontrol show partition", "PartitionName=p Nodes=n[1-2] MaxTime=60\n"},
           {"sacctmgr -P show assoc tree", "Account|User|Share|LFT\nroot|||1\n lab||3|2\n"},
           {"sdiag", "sdiag output at now (1)\n"}}));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE(made->is_enough());
  EXPECT_THAT(made->written, testing::IsSupersetOf(
                                 {"config.txt", "associations.txt", "slurm.conf", "nodes.conf"}));
  EXPECT_THAT(made->written, Not(Contains("qos.txt")));
  EXPECT_EQ(made->failed.front().first->name, "reservations.txt");
  EXPECT_EQ(made->failed.front().second, "sacctmgr: error: Unknown field");
  const auto site = site::read_site(folder / "site");
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->config.release, 2302);
  EXPECT_EQ(site->nodes.size(), 2U);
  EXPECT_TRUE(site->nodes[0].state.drain);
  EXPECT_EQ(site->partitions.at(0).max_time, 1h);
  EXPECT_EQ(site->associations.size(), 2U);
  EXPECT_EQ(site->config.all.count("accountingstoragepass"), 0U);
}

TEST(Snapshot, SaysWhichCommandsToRunElsewhere) {
  const TemporaryFolder folder;
  const auto made = take_snapshot(folder / "site", answering({}));
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->is_enough());
  std::vector<const SnapshotFile*> files;
  for (const auto& [file, trouble] : made->failed) files.push_back(file);
  const std::string script = snapshot_script("my site", files);
  EXPECT_THAT(script, HasSubstr("mkdir -p 'my site'\nexport SLURM_TIME_FORMAT=%s\n"
                                "scontrol show config > 'my site/config.txt'\n"));
  EXPECT_THAT(script, HasSubstr("\nsacctmgr -P show assoc tree > 'my site/associations.txt'\n"));
}

}  // namespace
}  // namespace almanac::slurm
