// SPDX-License-Identifier: Apache-2.0
#include "machine/box.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace almanac::machine {
namespace {

using testing::HasSubstr;

/// A machine with two GPUs on each of its nodes.
Machine box_of(int nodes, const std::string& gpu_type = "") {
  Machine made;
  made.cluster.add_vc("local");
  made.cluster.add_nodes({.gpus = 2, .gpu_type = gpu_type, .cpus = 8},
                         static_cast<std::uint32_t>(nodes));
  made.gpu_names.assign(static_cast<std::size_t>(nodes), {"0", "1"});
  made.cores = {0, 1, 2, 3};
  return made;
}

std::string error_of(Machine& head, const std::string& name, const std::string& hardware) {
  const auto added = add_box(head, name, hardware);
  return added ? "" : added.error().message;
}

TEST(BoxOfMachineTest, NodesOfBoxesAreAppendedInOrderOfJoining) {
  Machine head = head_of_boxes();
  ASSERT_TRUE(add_box(head, "a", describe_box(box_of(2))));
  ASSERT_TRUE(add_box(head, "b", describe_box(box_of(1))));
  ASSERT_EQ(head.cluster.nodes.size(), 3U);
  EXPECT_EQ(head.cluster.nodes[1].name, "a-2");
  EXPECT_THAT(head.boxes, testing::ElementsAre("a", "a", "b"));
  EXPECT_EQ(head.cluster.gpus(), 6);
  EXPECT_EQ(head.cluster.classes.size(), 1U) << "boxes that are alike are one kind of node";
  EXPECT_EQ(cores_of(head, NodeId{2}), (std::vector{0, 1, 2, 3}));
}

TEST(BoxOfMachineTest, AJobHoldsPartsOfBoxes) {
  Machine head = head_of_boxes();
  ASSERT_TRUE(add_box(head, "a", describe_box(box_of(2))));
  ASSERT_TRUE(add_box(head, "b", describe_box(box_of(1))));
  const auto parts = by_box(
      {{.node = NodeId{2}, .gpus = 1}, {.node = NodeId{0}, .gpus = 3}, {.node = NodeId{1}}}, head);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].box, "a");
  EXPECT_EQ(parts[0].held.size(), 2U);
  EXPECT_EQ(parts[1].box, "b");
}

TEST(BoxOfMachineTest, ADamagedBoxKeepsTheNumbersOfLaterNodes) {
  Machine head = head_of_boxes();
  ASSERT_TRUE(add_damaged_box(head, "a", cluster_of_box(describe_box(box_of(2, "A100")))));
  ASSERT_TRUE(add_box(head, "b", describe_box(box_of(1))));
  EXPECT_THAT(head.boxes, testing::ElementsAre("a", "a", "b"));
  EXPECT_EQ(head.cluster.nodes[1].name, "a-2");
  EXPECT_EQ(head.cluster.gpus(NodeId{1}), 2);
  EXPECT_EQ(head.cluster.classes[head.cluster.nodes[0].node_class].gpu_type, "A100");
  for (const char* const none : {"", "damaged"}) EXPECT_FALSE(add_damaged_box(head, "c", none));
}

TEST(BoxOfMachineTest, TwoNodesCannotHaveOneName) {
  Machine head = head_of_boxes();
  ASSERT_TRUE(add_box(head, "a", describe_box(box_of(2))));
  EXPECT_THAT(error_of(head, "a-2", describe_box(box_of(1))), HasSubstr("already a node a-2"));
}

TEST(BoxOfMachineTest, HardwareThatContradictsItselfIsRefused) {
  nlohmann::json said = nlohmann::json::parse(describe_box(box_of(1)));
  said["gpus"] = nlohmann::json::parse(R"([["0"]])");
  Machine head = head_of_boxes();
  EXPECT_THAT(error_of(head, "a", said.dump()), HasSubstr("number of GPUs and of their names"));
  said["gpus"] = nlohmann::json::parse(R"([["0", "1"]])");
  said["device_minors"] = nlohmann::json::parse("[[7]]");
  EXPECT_THAT(error_of(head, "a", said.dump()), HasSubstr("number of GPUs and of their devices"));
  EXPECT_NE(error_of(head, "a", "{}"), "");
  EXPECT_NE(error_of(head, "a", "["), "");
  EXPECT_THAT(error_of(head, "a", describe_box(box_of(257))), HasSubstr("more than 256 nodes"));
}

TEST(BoxOfMachineTest, ThereAreAsManyKindsOfGpusAsAClusterCanHave) {
  Machine head = head_of_boxes();
  for (std::size_t kind = 0; kind < cluster::kMaxGpuTypes; ++kind) {
    const std::string name = fmt::format("b{}", kind);
    ASSERT_EQ(error_of(head, name, describe_box(box_of(1, name))), "");
  }
  EXPECT_THAT(error_of(head, "last", describe_box(box_of(1, "other"))),
              HasSubstr("more than 64 kinds of GPUs"));
}

}  // namespace
}  // namespace almanac::machine
