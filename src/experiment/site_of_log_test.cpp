// SPDX-License-Identifier: Apache-2.0
#include "experiment/site_of_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::experiment {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Jobs of two partitions; those of `gpu` ran on g1 and g2, those of `debug` on d1.
constexpr auto kLog =
    "JobID|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocTRES|NNodes|NodeList\n"
    "1|ann|gpu|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|3600|COMPLETED|"
    "cpu=16,mem=64G,node=2,gres/gpu=8|2|g[1-2]\n"
    "2|ann|gpu|2024-01-01T02:00:00|2024-01-01T02:00:00|2024-01-01T03:00:00|3600|COMPLETED|"
    "cpu=8,mem=32G,node=1,gres/gpu=4|1|g1\n"
    "3|bob|debug|2024-01-01T02:00:00|2024-01-01T02:00:00|2024-01-01T03:00:00|3600|COMPLETED|"
    "cpu=4,mem=8G,node=1,gres/gpu=2|1|d1\n";

TEST(SiteOfLog, TakesTheNodesOfTheLogIfTheFilesNameNone) {
  const TemporaryFolder folder;
  folder.write("site/config.txt",
               "Configuration data as of 2024-01-02T00:00:00\n"
               "PriorityType            = priority/multifactor\n"
               "PriorityWeightAge       = 1000\n"
               "SLURM_VERSION           = 23.02.1\n");
  const auto log = trace::read_trace(folder.write("log.txt", kLog));
  ASSERT_TRUE(log) << to_string(log.error());
  std::shared_ptr<const site::Site> site;
  const auto cluster = read_cluster_of(*log, folder / "site", &site);
  ASSERT_TRUE(cluster) << to_string(cluster.error());
  EXPECT_EQ(cluster->gpus(), 10);
  EXPECT_TRUE(cluster->inferred);
  EXPECT_THAT(cluster->notes, Contains(HasSubstr("name no nodes")));
  EXPECT_THAT(cluster->notes,
              Contains("no file of the site names partitions debug, gpu: assumed without limits; "
                       "add the output of scontrol show partition"));
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->config.priority.weight_age, 1000U);
  ASSERT_EQ(site->partitions.size(), 2U);
  EXPECT_EQ(site->partitions[0].name, "debug");
  EXPECT_EQ(site->partitions[0].nodes.size(), 1U);
  EXPECT_EQ(site->partitions[1].nodes.size(), 2U);
  EXPECT_TRUE(site->partitions[1].is_default) << "most jobs are in it";
  EXPECT_EQ(site->nodes[site->partitions[0].nodes[0]].memory_mb, 8 * 1024) << "what job 3 held";
  EXPECT_EQ(site->nodes[site->partitions[1].nodes[0]].memory_mb, 32 * 1024);
}

TEST(SiteOfLog, KeepsTheLimitsOfPartitionsThatTheFilesName) {
  const TemporaryFolder folder;
  folder.write("site/config.txt",
               "Configuration data as of 2024-01-02T00:00:00\n"
               "SLURM_VERSION           = 23.02.1\n");
  folder.write("site/partitions.txt",
               "PartitionName=debug Default=YES MaxTime=60 Nodes=n[1-2] State=UP\n"
               "PartitionName=other MaxTime=10 Nodes=n[1-2] State=UP\n");
  const auto log = trace::read_trace(folder.write("log.txt", kLog));
  ASSERT_TRUE(log) << to_string(log.error());
  std::shared_ptr<const site::Site> site;
  const auto cluster = read_cluster_of(*log, folder / "site", &site);
  ASSERT_TRUE(cluster) << to_string(cluster.error());
  ASSERT_EQ(site->partitions.size(), 2U) << "no job names the partition other";
  EXPECT_EQ(site->partitions[0].name, "debug");
  EXPECT_EQ(site->partitions[0].max_time, std::chrono::hours(1));
  EXPECT_TRUE(site->partitions[0].is_default) << "as the file says, though gpu has more jobs";
  EXPECT_EQ(site->partitions[0].nodes.size(), 1U) << "d1, where job 3 ran";
  EXPECT_FALSE(site->partitions[1].is_default);
  EXPECT_THAT(
      cluster->notes,
      Contains("no file of the site names partition gpu: assumed without limits; check that "
               "scontrol show partition is of the log's cluster"));
  EXPECT_THAT(cluster->notes, Contains("no job of the log names partition other of the site's "
                                       "files: left out, with its limits"));
}

TEST(SiteOfLog, StillRefusesAFolderThatDescribesNothing) {
  const TemporaryFolder folder;
  folder.write("site/readme.txt", "nothing\n");
  const auto log = trace::read_trace(folder.write("log.txt", kLog));
  std::shared_ptr<const site::Site> site;
  EXPECT_FALSE(read_cluster_of(*log, folder / "site", &site));
}

}  // namespace
}  // namespace almanac::experiment
