// SPDX-License-Identifier: Apache-2.0

/// \file
/// This machine as the service finds it where GPUs are cut in instances, by a driver that is none
/// (fake_driver.cpp).
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "machine/environment.h"
#include "machine/machine.h"
#include "support/temporary_folder.h"

namespace almanac::machine {
namespace {

using testing::Contains;
using testing::ElementsAre;

class Instances : public testing::Test {
 protected:
  /// The machine with such lines of the driver's instances.
  Machine with(const std::string& instances, const char* visible = nullptr) const {
    ::setenv("FAKE_MACHINE", "pairs", 1);
    ::setenv("FAKE_INSTANCES", folder_.write("instances", instances).c_str(), 1);
    visible == nullptr ? ::unsetenv("CUDA_VISIBLE_DEVICES")
                       : ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    auto found = find_machine("");
    EXPECT_TRUE(found) << to_string(found.error());
    return *std::move(found);
  }

  TemporaryFolder folder_;
};

TEST_F(Instances, AreANodeOfEachSizeBesideTheWholeGpus) {
  const Machine machine = with("0 1 9 0 1\n0 2 14 4 1\n1 1 9 4 1\n");
  const cluster::Cluster& found = machine.cluster;
  ASSERT_EQ(found.nodes.size(), 3U);
  const auto make = [&](std::size_t node) { return found.classes[found.nodes[node].node_class]; };
  EXPECT_EQ(make(0).gpu_type, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(make(0).connections,
            (std::vector<cluster::Connection>{{cluster::Between::nvlink, {0, 1}, 4}}));
  EXPECT_EQ(make(1).gpu_type, "2g.20gb");
  EXPECT_EQ(make(2).gpu_type, "3g.40gb");
  EXPECT_EQ(make(2).gpus, 2);
  // A job that does not say asks what comes with a GPU; it is to fit on each node.
  EXPECT_DOUBLE_EQ(make(2).memory_gb / 2, make(1).memory_gb);
  EXPECT_DOUBLE_EQ(make(0).cpus / 2, make(1).cpus);
  EXPECT_EQ(found.nodes[2].name, found.nodes[0].name + "-3g.40gb");
  EXPECT_THAT(machine.gpu_names[0], ElementsAre("2", "3"));
  EXPECT_THAT(machine.gpu_names[1], ElementsAre("MIG-0-2"));
  EXPECT_THAT(machine.gpu_names[2], ElementsAre("MIG-0-1", "MIG-1-1"));
  EXPECT_THAT(machine.driver_numbers[2], ElementsAre(std::nullopt, std::nullopt));
  // A job that holds one is given that one, not the GPU that it is of.
  EXPECT_EQ(visible_gpus({{.node = NodeId{2}, .gpus = 0b10}}, machine), "MIG-1-1");
  EXPECT_EQ(visible_gpus({{.node = NodeId{0}, .gpus = 0b11}}, machine), "2,3");
}

TEST_F(Instances, ThatNoJobCanBeGivenAreSaid) {
  const Machine machine = with("0 1 9 0 0\n0 2 9 4 2\n");
  EXPECT_EQ(machine.cluster.gpus(), 2);
  EXPECT_THAT(
      machine.notes,
      Contains(
          "instance 1 of GPU 0 does not have exactly one compute instance: no job can use it"));
  EXPECT_THAT(
      machine.notes,
      Contains(
          "instance 2 of GPU 0 does not have exactly one compute instance: no job can use it"));
  EXPECT_THAT(machine.notes,
              Contains("GPU 1 is in MIG mode but has no instances: nothing runs there"));
}

TEST_F(Instances, ThatWeWereGivenByNameAreOurs) {
  const Machine machine = with("0 1 9 0 1\n0 2 14 4 1\n", "MIG-0-2");
  ASSERT_EQ(machine.cluster.nodes.size(), 1U);
  EXPECT_EQ(machine.cluster.classes.front().gpu_type, "2g.20gb");
  EXPECT_THAT(machine.gpu_names, ElementsAre(ElementsAre("MIG-0-2")));
}

TEST_F(Instances, AFileOfThisMachineMeansTheSame) {
  const Machine found = with("0 1 9 0 1\n0 2 14 4 1\n1 1 9 4 1\n");
  const auto told = find_machine(folder_.write("machine.toml", cluster::to_toml(found.cluster)));
  ASSERT_TRUE(told) << to_string(told.error());
  EXPECT_EQ(told->gpu_names, found.gpu_names);
  EXPECT_EQ(told->driver_numbers, found.driver_numbers);
}

}  // namespace
}  // namespace almanac::machine
