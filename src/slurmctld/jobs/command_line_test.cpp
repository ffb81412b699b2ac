// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

TEST(CommandLine, DerivesTasksFromNodes) {
  const Machines machines;
  EXPECT_EQ(machines.parse("-N3").request.tasks, 3);
  EXPECT_EQ(machines.parse("-N2 --ntasks-per-node=4").request.tasks, 8);
  EXPECT_EQ(machines.parse("-N2-4").request.tasks, 1);
  EXPECT_EQ(machines.parse("-n6 -c2").request.least_cpus(), 12);
}

TEST(CommandLine, ReadsGpusOfEachOption) {
  const Machines machines;
  const NodeRequest typed = machines.parse("--gres=gpu:v100:2").request;
  EXPECT_EQ(typed.gpu_scope, GpuScope::node);
  EXPECT_EQ(typed.gpus, 2);
  EXPECT_EQ(typed.gpu_type, *machines.table.find_gpu_type("v100"));
  EXPECT_EQ(machines.parse("-G 3").request.gpu_scope, GpuScope::job);
  EXPECT_EQ(machines.parse("--gpus-per-task=1 -n4").request.gpu_scope, GpuScope::task);
}

TEST(CommandLine, ReadsShortAndLongForms) {
  const Machines machines;
  const Submission job = machines.parse(
      "-n 4 --time=1-02:00:00 -pmain,low --nice=-5 -d afterok:7:8,singleton -L matlab:2 -a "
      "1-7:2%3");
  EXPECT_EQ(job.request.tasks, 4);
  EXPECT_EQ(job.time_limit, 26 * 3600);
  EXPECT_EQ(job.partitions, (std::vector<std::string>{"main", "low"}));
  EXPECT_EQ(job.nice, -5);
  ASSERT_EQ(job.dependencies.size(), 3U);
  EXPECT_EQ(job.dependencies[1].job, 8U);
  EXPECT_EQ(job.tasks, (std::vector<int>{1, 3, 5, 7}));
  EXPECT_EQ(job.most_tasks, 3);
}

TEST(CommandLine, TakesDefaultsOfThePartition) {
  const Machines machines;
  const Submission job = machines.parse("-n2");
  EXPECT_EQ(job.time_limit, 300);
  EXPECT_EQ(job.request.memory_per_cpu_mb, 500);
}

TEST(CommandLine, MemoryPerGpuCountsTheGpusOfANodeOrTask) {
  site::Site site = eight_nodes();
  site.config.job_defaults = {.memory_per_gpu_mb = 2000};
  const Machines machines(std::move(site));
  EXPECT_EQ(machines.parse("-N2 --gres=gpu:4").request.memory_per_node_mb, 8000);
  EXPECT_EQ(machines.parse("-n2 --gpus-per-task=3").request.memory_per_task_mb, 6000);
  EXPECT_EQ(machines.parse("-N2 --gpus=8").request.memory_per_node_mb, 8000);
  EXPECT_EQ(machines.parse("-N1 --gpus=2 --mem-per-gpu=1000").request.memory_per_node_mb, 2000);
  EXPECT_EQ(machines.parse("-N1 --gres=gpu:1 --mem=700").request.memory_per_node_mb, 700);
  EXPECT_TRUE(machines.parse("-n2").request.whole_memory) << "no GPUs, and no other default";
}

TEST(CommandLine, AJobMayAskForNoLimit) {
  const Machines machines;
  EXPECT_EQ(machines.parse("-n2 -t UNLIMITED").time_limit, kYear);
  EXPECT_EQ(machines.parse("-n2 -t 0").time_limit, kYear);
}

TEST(CommandLine, RefusesNodesThatDoNotExist) {
  const Machines machines;
  const auto parsed = parse_command_line("sbatch -w n99 x.sh", machines.table);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "option --nodelist of a submission: unexpected value \"n99\"");
}

}  // namespace
}  // namespace almanac::slurmctld
