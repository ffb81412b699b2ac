// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <gtest/gtest.h>

#include "experiment/with_services.h"
#include "inference/profile/model.h"

namespace almanac::experiment {
namespace {

TEST(ServicePlace, IsTheVirtualClusterThatTheServiceNames) {
  cluster::Cluster cluster;
  const cluster::NodeClass four_gpus = cluster::uniform(1, 4).classes.front();
  cluster.add_vc("research");
  cluster.add_nodes(four_gpus, 1);
  cluster.add_vc("teaching");
  cluster.add_nodes(four_gpus, 3);
  trace::Trace log;
  trace::Job training;
  training.request.gpus = 1;
  training.request.vc = log.names.intern("teaching");
  training.outcome.run = 50s;
  log.jobs = {training};
  Experiment experiment;
  experiment.policies = {"fifo"};
  const auto prepared = prepare(experiment, std::move(log), std::move(cluster));
  ASSERT_TRUE(prepared) << prepared.error().message;
  sim::ServiceCase service;
  service.service.model = *inference::find_model("llama-3.1-8b");
  service.service.board = *inference::find_board("h100");
  service.vc = "research";
  service.least = service.most = 5;
  const std::atomic<bool> stop = false;
  const auto few = compare_with_service(*prepared, 0, service, stop);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message,
            "virtual cluster research has 4 GPUs, too few for 5 replicas of 1 GPU");
  EXPECT_EQ(place_of_replicas(service, prepared->cluster), "virtual cluster research");
  EXPECT_EQ(fitting_replicas(service, prepared->cluster), 4);
  service.vc = "teaching";
  EXPECT_EQ(fitting_replicas(service, prepared->cluster), 12);
  EXPECT_EQ(place_of_replicas(service, cluster::uniform(4, 4)), "the cluster");
}

}  // namespace
}  // namespace almanac::experiment
