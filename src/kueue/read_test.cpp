// SPDX-License-Identifier: Apache-2.0
#include "kueue/read.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::kueue {
namespace {

using testing::ElementsAre;

std::string message_of(std::string_view json) {
  const auto objects = parse_objects(json);
  return objects ? "" : objects.error().message;
}

std::string queue_with(std::string_view spec) {
  return fmt::format(R"({{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
                          "metadata": {{"name": "a"}}, "spec": {}}})",
                     spec);
}

TEST(Objects, AreReadAsKubectlPrintsThem) {
  const auto read = parse_objects(R"({"kind": "List", "items": [
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
     "metadata": {"name": "h100"},
     "spec": {"nodeLabels": {"gpu": "h100"},
              "nodeTaints": [{"key": "spot", "value": "yes", "effect": "NoSchedule"}]}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "all"},
     "spec": {"parentName": "root"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "a"},
     "spec": {"cohortName": "all", "queueingStrategy": "StrictFIFO",
              "namespaceSelector": {},
              "resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"],
                "flavors": [{"name": "h100", "resources": [
                  {"name": "cpu", "nominalQuota": "2500m"},
                  {"name": "nvidia.com/gpu", "nominalQuota": 16, "borrowingLimit": "8"}]}]}],
              "preemption": {"withinClusterQueue": "LowerPriority",
                             "reclaimWithinCohort": "Any",
                             "borrowWithinCohort": {"policy": "LowerPriority",
                                                    "maxPriorityThreshold": 100}},
              "fairSharing": {"weight": "1500m"},
              "admissionChecksStrategy": {"admissionChecks": [{"name": "budget"}]}}}]})");
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->setup.flavors.size(), 1U);
  EXPECT_EQ(read->setup.flavors[0].labels.at("gpu"), "h100");
  EXPECT_EQ(read->setup.flavors[0].taints[0].key, "spot");
  EXPECT_EQ(read->setup.cohorts[0].parent, "root");
  const ClusterQueue& queue = read->setup.queues.at(0);
  EXPECT_EQ(queue.cohort, "all");
  EXPECT_TRUE(queue.is_strict);
  EXPECT_EQ(queue.weight, 1.5);
  const auto& resources = queue.groups.at(0).flavors.at(0).resources;
  EXPECT_EQ(resources.at("cpu").nominal, 2'500);
  EXPECT_EQ(resources.at("nvidia.com/gpu").nominal, 16);
  EXPECT_EQ(resources.at("nvidia.com/gpu").borrowing_limit, 8);
  EXPECT_EQ(queue.within_queue, Preempts::lower_priority);
  EXPECT_EQ(queue.reclaim_within_cohort, Preempts::any);
  EXPECT_EQ(queue.highest_preempted_while_borrowing, 100);
  EXPECT_THAT(read->not_modelled,
              ElementsAre("ClusterQueue a: admissionChecksStrategy is not modelled"));
}

TEST(Objects, OfTheFirstBetaHaveOtherNames) {
  const auto read = parse_objects(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "a"},
    "spec": {"cohort": "all", "flavorFungibility": {"whenCanBorrow": "Borrow",
                                                    "whenCanPreempt": "Preempt"}}})");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->setup.queues[0].cohort, "all");
  EXPECT_EQ(read->setup.queues[0].when_can_preempt, Fungibility::may_stop_search);
}

TEST(Objects, AreRefusedWithTheirPlace) {
  EXPECT_EQ(message_of("NAME  COHORT"), "expected JSON, as kubectl get -o json prints it");
  EXPECT_EQ(message_of("[]"),
            "expected objects of Kueue, as kubectl get -o json prints them, found a list");
  EXPECT_EQ(message_of(R"({"items": []})"), "expected ClusterQueues, found none");
  EXPECT_EQ(message_of(queue_with(R"({"queueingStrategy": "LIFO"})")),
            "ClusterQueue a.spec.queueingStrategy: expected one of BestEffortFIFO, StrictFIFO, "
            "found 'LIFO'");
  const auto with_quota = [](std::string_view quota) {
    return queue_with(fmt::format(
        R"({{"resourceGroups": [{{"flavors": [{{"name": "f",
            "resources": [{{"name": "cpu", "nominalQuota": "{}"}}]}}]}}]}})",
        quota));
  };
  EXPECT_EQ(message_of(with_quota("many")),
            "ClusterQueue a.spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: expected "
            "a quantity such as 8, 500m or 64Gi, found 'many'");
  EXPECT_EQ(message_of(with_quota("1")), "queue a: flavor 'f' is not declared");
}

}  // namespace
}  // namespace almanac::kueue
