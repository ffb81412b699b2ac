// SPDX-License-Identifier: Apache-2.0
#include "submission/cluster_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::submission {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

cluster::Cluster two_vcs() {
  cluster::Cluster made;
  made.add_vc("vision");
  made.add_nodes({.gpus = 8, .gpu_type = "V100"}, 2);
  made.add_vc("language");
  made.add_nodes({.gpus = 8, .gpu_type = "A100"}, 2);
  return made;
}

std::string refusal_of(const store::Submission& asked, const cluster::Cluster& cluster) {
  const auto checked = check_names(asked, cluster);
  return checked ? "" : to_string(checked.error());
}

TEST(ClusterNames, OfVirtualClustersThatExistAreListed) {
  EXPECT_EQ(refusal_of({.vc = "vision"}, two_vcs()), "");
  EXPECT_EQ(refusal_of({.vc = "nope"}, two_vcs()),
            "no virtual cluster is named nope here (use one of vision, language)");
  EXPECT_EQ(refusal_of({}, two_vcs()),
            "the job names no virtual cluster (use one of vision, language)");
}

TEST(ClusterNames, OfGpuTypesThatExistAreListed) {
  const auto refusal = [](const std::string& type) {
    return refusal_of({.vc = "vision", .gpu_type = type}, two_vcs());
  };
  EXPECT_EQ(refusal("a100"), "");
  EXPECT_EQ(refusal("z900|v100"), "");
  EXPECT_EQ(refusal("Z900"), "no node has GPUs of type Z900 (use one of A100, V100)");
}

// No node of such a cluster can be known to have what the job needs.
TEST(ClusterNames, OfAGpuTypeAreRefusedIfNoNodeStatesOne) {
  EXPECT_EQ(refusal_of({.gpu_type = "Z900"}, cluster::uniform(1, 4)),
            "no node has GPUs of type Z900 (no node states a GPU type: omit --gpu-type, or set "
            "gpu_type in the service's cluster file)");
}

TEST(ClusterNames, OfQosAreCheckedIfTheClusterListsSome) {
  cluster::Cluster listed = cluster::uniform(1, 4);
  EXPECT_EQ(refusal_of({.qos = "urgent"}, listed), "");
  listed.qos.push_back({.name = "normal"});
  listed.qos.push_back({.name = "high", .users = {"ann"}});
  EXPECT_EQ(refusal_of({.qos = "urgent"}, listed),
            "no QOS is named urgent here (use one of normal, high)");
  EXPECT_EQ(refusal_of({.user = "ben", .qos = "high"}, listed),
            "user ben may not use QOS high (the service's cluster file lists the users of each "
            "QOS)");
}

TEST(ClusterNames, ThatAreOnlyLabelsGetANote) {
  const cluster::Cluster box = cluster::uniform(1, 4);
  EXPECT_EQ(refusal_of({.vc = "nope"}, box), "");
  EXPECT_THAT(notes_on_labels({.vc = "nope", .qos = "urgent"}, box),
              ElementsAre("virtual cluster nope is only a label: this service has no virtual "
                          "clusters",
                          "QOS urgent is only a label: this service has no QOS"));
  EXPECT_THAT(notes_on_labels({}, box), IsEmpty());
  EXPECT_THAT(notes_on_labels({.vc = "vision"}, two_vcs()), IsEmpty());
}

}  // namespace
}  // namespace almanac::submission
