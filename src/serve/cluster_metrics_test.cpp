// SPDX-License-Identifier: Apache-2.0
#include "serve/cluster_metrics.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "support/temporary_folder.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const Families& families) {
  return prometheus::TextSerializer().Serialize(families.all());
}

/// Two started jobs of partition gpu: ann's with 8 GPUs waited 10 minutes, bob's with one 5 s.
service::Counters two_starts() {
  service::Counters made;
  made.waits.add("gpu", "ann", 8, 10min);
  made.waits.add("gpu", "bob", 1, 5s);
  made.expected_waits.add("gpu", "ann", 8, 1h);
  return made;
}

/// A node of four GPUs: job 1 holds the first two, of which one computes; two are free.
std::vector<service::NodeView> one_node() {
  service::NodeView node{.name = "n1"};
  for (int gpu = 0; gpu < 4; ++gpu) {
    node.gpus.push_back({.number = gpu, .use = gpu == 0 ? 0.75 : 0.0});
    if (gpu < 2) node.gpus.back().jobs.push_back(store::JobNumber{1});
  }
  node.gpus[0].memory_gb = 2;
  node.gpus[0].power_w = 300;
  return {node};
}

TEST(ClusterMetrics, HaveWaitsByPartitionSizeAndUser) {
  Families families;
  add_waits(families, two_starts());
  const std::string text = text_of(families);
  const std::string large = "almanac_job_wait_seconds_bucket{partition=\"gpu\",gpus=\"5-8\",le=";
  EXPECT_THAT(text, HasSubstr(large + "\"300\"} 0\n"));
  EXPECT_THAT(text, HasSubstr(large + "\"900\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(large + "\"+Inf\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("almanac_job_wait_seconds_sum{partition=\"gpu\",gpus=\"5-8\"} 600\n"));
  EXPECT_THAT(text, HasSubstr("almanac_user_job_wait_seconds_count{user=\"bob\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("almanac_job_expected_wait_seconds_sum{partition=\"gpu\","
                              "gpus=\"5-8\"} 3600\n"));
}

TEST(ClusterMetrics, HaveIdleAndFreeGpus) {
  Families families;
  add_gpus(families, one_node(), two_starts().waits);
  const std::string text = text_of(families);
  EXPECT_THAT(text, HasSubstr("almanac_gpu_utilization_ratio{node=\"n1\",gpu=\"0\"} 0.75\n"));
  EXPECT_THAT(text, HasSubstr("almanac_gpu_memory_used_bytes{node=\"n1\",gpu=\"0\"} 2147483648\n"));
  EXPECT_THAT(text, Not(HasSubstr("almanac_gpu_memory_used_bytes{node=\"n1\",gpu=\"1\"}")))
      << "not measured";
  EXPECT_THAT(text, HasSubstr("almanac_gpus_allocated_measured 2\n"));
  EXPECT_THAT(text, HasSubstr("almanac_gpus_allocated_idle 1\n"));
  EXPECT_THAT(text, HasSubstr("almanac_gpus_free 2\n"));
  EXPECT_THAT(text, HasSubstr("almanac_nodes_free 0\n"));
  EXPECT_THAT(text, HasSubstr("almanac_gpus_fragmented 1\n"))
      << "one job in two needs a whole node, and both free GPUs are of no use to it";
}

TEST(ClusterMetrics, LeaveOutWhatIsNotKnown) {
  Families families;
  add_waits(families, {});
  add_gpus(families, {{.name = "n1", .gpus = {{.number = 0}}}}, {});
  const std::string text = text_of(families);
  EXPECT_THAT(text, Not(HasSubstr("wait_seconds")));
  EXPECT_THAT(text, Not(HasSubstr("utilization")));
  EXPECT_THAT(text, Not(HasSubstr("fragmented")));
  EXPECT_THAT(text, HasSubstr("almanac_gpus_free 1\n"));
}

TEST(ClusterMetrics, AreWhatPrometheusExpects) {
  if (std::system("command -v promtool >/dev/null") != 0) {
    GTEST_SKIP() << "promtool is not installed (package prometheus): metrics are not checked";
  }
  Families families;
  const service::Counters counters = two_starts();
  add_waits(families, counters);
  add_gpus(families, one_node(), counters.waits);
  const TemporaryFolder folder;
  const std::string file = folder.write("metrics", text_of(families));
  EXPECT_EQ(std::system(("promtool check metrics <" + file).c_str()), 0);
}

}  // namespace
}  // namespace almanac::serve
