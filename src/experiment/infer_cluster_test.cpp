// SPDX-License-Identifier: Apache-2.0
#include "experiment/infer_cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "cluster/read_toml.h"
#include "experiment/impossible_jobs.h"
#include "experiment/shares_of_cluster.h"
#include "site/cluster.h"
#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::experiment {
namespace {

using testing::HasSubstr;

/// A log of sacct, row by row.
class InferCluster : public testing::Test {
 protected:
  /// A job that ran from `start` to `end` seconds on `nodes`.
  void job(int start, int end, const std::string& nodes, const std::string& tres,
           const std::string& partition = "gpu") {
    rows_ += fmt::format("{}|u|{}|2026-11-01T00:00:00|{}|{}|{}|COMPLETED|{}|{}\n", ++jobs_,
                         partition, moment(start), moment(end), end - start, tres, nodes);
  }
  static std::string moment(int second) {
    return fmt::format("2026-11-{:02}T{:02}:{:02}:{:02}", 1 + second / 86400, second / 3600 % 24,
                       second / 60 % 60, second % 60);
  }
  trace::Trace read() {
    auto trace = trace::read_trace(folder_.write(
        "log",
        "JobID|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList\n" + rows_));
    EXPECT_TRUE(trace) << to_string(trace.error());
    return trace ? std::move(*trace) : trace::Trace{};
  }
  InferredCluster inferred() {
    auto made = infer(read());
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::move(*made) : InferredCluster{};
  }
  /// "2x8 a100, 1x4": the groups of the virtual clusters.
  static std::string shape(const cluster::Cluster& cluster) {
    std::string made;
    for (std::size_t at = 0; at < cluster.nodes.size();) {
      const cluster::Node& node = cluster.nodes[at];
      std::size_t count = 0;
      while (at < cluster.nodes.size() && cluster.nodes[at].node_class == node.node_class &&
             cluster.nodes[at].vc == node.vc) {
        ++at;
        ++count;
      }
      const cluster::NodeClass& make = cluster.classes[node.node_class];
      made += fmt::format("{}{}x{}{}", made.empty() ? "" : ", ", count, make.gpus,
                          make.gpu_type.empty() ? "" : " " + make.gpu_type);
    }
    return made;
  }

  static void expect_a_reason_on_each_line(const std::string& toml) {
    for (std::size_t from = 0; from < toml.size();) {
      const std::string line = toml.substr(from, toml.find('\n', from) - from);
      if (line.find(" = ") != std::string::npos) {
        EXPECT_THAT(line, HasSubstr("  # "));
      }
      from += line.size() + 1;
    }
  }

  TemporaryFolder folder_;
  std::string rows_;
  int jobs_ = 0;
};

TEST_F(InferCluster, CountsNodesByTheirNamesAndNotByWhatRanAtOnce) {
  for (int day = 0; day < 10; ++day) {
    for (int run = 0; run < 4; ++run) {
      job(day * 86400 + run * 10000, day * 86400 + run * 10000 + 9000,
          fmt::format("n{:02}", day + 1), "cpu=64,gres/gpu=8,mem=512G,node=1");
    }
  }
  const InferredCluster made = inferred();
  EXPECT_EQ(shape(made.cluster), "10x8");
  EXPECT_EQ(made.cluster.classes.at(0).cpus, 64);
  EXPECT_EQ(made.cluster.classes.at(0).memory_gb, 512);
  EXPECT_EQ(made.cluster.nodes.front().name, "n01");
  EXPECT_TRUE(made.cluster.inferred);
  EXPECT_FALSE(made.cluster.lower_bound);
  EXPECT_THAT(made.cluster.notes.at(0), HasSubstr("10 nodes x 8 GPUs, one virtual cluster"));
  const std::string toml = to_toml(made);
  EXPECT_THAT(toml, HasSubstr("gpus = 8  # most GPUs in use at once (reached 40 times)\n"));
  const auto again = cluster::parse_toml(toml, "inferred.toml");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(shape(*again), "10x8");
  expect_a_reason_on_each_line(toml);
}

TEST_F(InferCluster, AddsUpWhatRanOnANodeAtOnce) {
  for (int run = 0; run < 5; ++run) {
    for (const char* const node : {"n01", "n02"}) {
      job(run * 1000, run * 1000 + 900, node, "cpu=8,gres/gpu=2,node=1");
      job(run * 1000 + 100, run * 1000 + 1000, node, "cpu=8,gres/gpu=2,node=1");
    }
  }
  EXPECT_EQ(shape(inferred().cluster), "2x4");
}

TEST_F(InferCluster, ReadsListsOfSeveralDimensionsAndSharesEvenly) {
  for (int run = 0; run < 3; ++run) {
    job(run * 1000, run * 1000 + 900, "r[1-2]n[08-10,12]-ib", "gres/gpu=32,node=8");
  }
  const InferredCluster made = inferred();
  EXPECT_EQ(shape(made.cluster), "8x4");
  EXPECT_EQ(made.cluster.nodes.at(3).name, "r1n12-ib");
}

TEST_F(InferCluster, GivesEachTypeAndSizeItsGroup) {
  for (int run = 0; run < 4; ++run) {
    const int at = run * 1000;
    job(at, at + 900, "a[1-2]", "gres/gpu=16,gres/gpu:a100=16,node=2");
    job(at, at + 900, "v[1-3]", "gres/gpu:v100=12,node=3");
    job(at, at + 900, "c1", "cpu=128,mem=1T,node=1");
  }
  const InferredCluster made = inferred();
  EXPECT_EQ(shape(made.cluster), "2x8 a100, 3x4 v100, 1x0");
  EXPECT_THAT(made.cluster.notes.at(0),
              HasSubstr("2 nodes x 8 GPUs (a100), 3 nodes x 4 GPUs (v100), 1 node without GPUs"));
}

TEST_F(InferCluster, TellsSizesApartThatWereReachedOften) {
  for (int run = 0; run < 4; ++run) {
    const int at = run * 1000;
    job(at, at + 900, "n1", "gres/gpu=8,node=1");
    job(at, at + 900, "n2", "gres/gpu=4,node=1");
  }
  EXPECT_EQ(shape(inferred().cluster), "1x8, 1x4");
}

TEST_F(InferCluster, TakesANodeThatWasHardlyUsedToBeLikeTheOthers) {
  for (int run = 0; run < 4; ++run) {
    job(run * 1000, run * 1000 + 900, "n[1-3]", "gres/gpu=24,node=3");
  }
  job(0, 500, "n4", "gres/gpu=2,node=1");
  const InferredCluster made = inferred();
  EXPECT_EQ(shape(made.cluster), "4x8");
  EXPECT_THAT(to_toml(made), HasSubstr("n4: fewer in use, assumed equal to similar nodes"));
}

TEST_F(InferCluster, TakesNodesThatAreNeverFullToBeLikeTheFullest) {
  for (int run = 0; run < 12; ++run) {
    for (const char* const node : {"n1", "n2", "n3"}) {
      job(run * 1000, run * 1000 + 900, node, "gres/gpu=1,node=1");
    }
  }
  job(100, 160, "n1", "gres/gpu=3,node=1");
  job(100, 160, "n2", "gres/gpu=2,node=1");
  job(100, 160, "n3", "gres/gpu=1,node=1");
  EXPECT_EQ(shape(inferred().cluster), "3x4");
}

TEST_F(InferCluster, DoesNotMixInstancesWithTheirBoards) {
  for (int run = 0; run < 4; ++run) {
    job(run * 1000, run * 1000 + 900, "n1", "gres/gpu=8,gres/gpu:a100=8,node=1");
  }
  job(5000, 6000, "n1", "gres/gpu=1,gres/gpu:a100_1g.5gb=1,node=1");
  EXPECT_EQ(shape(inferred().cluster), "1x8 a100, 1x1 a100_1g.5gb");
}

TEST_F(InferCluster, IsNotMisledByJobsOfWhichThePartsAreNotTold) {
  for (int run = 0; run < 4; ++run) {
    job(run * 1000, run * 1000 + 900, "n1", "gres/gpu=4,node=1");
    job(run * 1000, run * 1000 + 900, "n2", "gres/gpu=4,node=1");
  }
  job(10000, 11000, "n[1-2]", "gres/gpu=7,node=2");  // 4 and 3, or 3 and 4
  job(12000, 13000, "n[1-2]", "gres/gpu=4,node=1");  // fewer nodes than it names
  job(14000, 15000, "None assigned", "gres/gpu=8");  // more GPUs than a node has, nowhere
  EXPECT_EQ(shape(inferred().cluster), "2x4");
}

TEST_F(InferCluster, HasRoomForAJobWhoseNodesShowNothingElse) {
  job(0, 1000, "n[1-2]", "gres/gpu=7,node=2");
  const InferredCluster made = inferred();
  EXPECT_EQ(made.cluster.gpus(), 7);
  EXPECT_THAT(to_toml(made), HasSubstr("smallest size that fits a multi-node job"));
}

TEST_F(InferCluster, IgnoresOverlapsOfASecond) {
  for (int run = 0; run < 5; ++run) {
    job(run * 1000, run * 1000 + 1001, "n1", "gres/gpu=8,node=1");
  }
  EXPECT_EQ(shape(inferred().cluster), "1x8");
}

TEST_F(InferCluster, KeepsPartitionsApartUnlessTheyShareNodes) {
  for (int run = 0; run < 3; ++run) {
    job(run * 1000, run * 1000 + 900, "n1", "gres/gpu=8,node=1", "gpu");
    job(run * 1000, run * 1000 + 900, "n2", "gres/gpu=8,node=1", "debug");
    job(run * 1000, run * 1000 + 900, "m1", "gres/gpu=4,node=1", "other");
  }
  EXPECT_EQ(inferred().cluster.vcs.size(), 3U);
  job(50000, 51000, "n1", "gres/gpu=8,node=1", "debug");
  const InferredCluster made = inferred();
  ASSERT_EQ(made.cluster.vcs.size(), 2U);
  EXPECT_EQ(made.cluster.vcs[0].name, "debug+gpu");
  EXPECT_EQ(shape(made.cluster), "2x8, 1x4");
}

TEST_F(InferCluster, SaysThatItIsABoundWithoutNamesOfNodes) {
  for (int run = 0; run < 3; ++run) {
    job(run * 1000, run * 1000 + 900, "", "gres/gpu=8,node=1");
    job(run * 1000, run * 1000 + 900, "", "gres/gpu=8,node=1");
  }
  const InferredCluster made = inferred();
  EXPECT_EQ(shape(made.cluster), "2x8");
  EXPECT_TRUE(made.cluster.lower_bound);
  expect_a_reason_on_each_line(to_toml(made));
  EXPECT_THAT(made.cluster.notes.at(0), HasSubstr("the most ever in use at once: a lower bound"));
  EXPECT_THAT(to_toml(made), HasSubstr("nodes = 2  # lower bound: 16 GPUs were in use at once"));
}

TEST_F(InferCluster, DoesNotCountWhatAJobAskedThatNeverRan) {
  job(0, 1000, "", "gres/gpu=8,node=1");
  rows_ +=
      "900|u|gpu|2026-11-01T00:00:00|2026-11-02T00:00:00|2026-11-02T00:00:00|0|CANCELLED|"
      "gres/gpu=512,node=64|\n";
  EXPECT_EQ(shape(inferred().cluster), "1x8");
}

std::string philly_job(const char* id, const char* vc, const char* gpus) {
  return fmt::format(
      "{{\"status\":\"Pass\",\"vc\":\"{}\",\"jobid\":\"{}\",\"user\":\"u\","
      "\"submitted_time\":\"2017-10-06 14:00:00\",\"attempts\":[{{"
      "\"start_time\":\"2017-10-06 14:00:00\",\"end_time\":\"2017-10-06 15:00:00\","
      "\"detail\":[{{\"ip\":\"m51\",\"gpus\":[{}]}}]}}]}}",
      vc, id, gpus);
}

TEST(InferOtherLogs, NamesTheMachinesOfPhillyButKeepsItsQuotas) {
  const TemporaryFolder folder;
  const std::string first = "[" + philly_job("1", "a", "\"gpu0\",\"gpu1\"") + ",\n";
  const auto one = trace::read_trace(
      folder.write("1.json", first + philly_job("2", "a", "\"gpu2\",\"gpu3\"") + "]\n"));
  ASSERT_TRUE(one) << to_string(one.error());
  const auto named = infer_cluster(*one);
  ASSERT_TRUE(named);
  ASSERT_EQ(named->nodes.size(), 1U);
  EXPECT_EQ(named->nodes[0].name, "m51");
  EXPECT_EQ(named->gpus(), 4);
  const auto two = trace::read_trace(
      folder.write("2.json", first + philly_job("2", "b", "\"gpu2\",\"gpu3\"") + "]\n"));
  ASSERT_TRUE(two) << to_string(two.error());
  const auto quotas = infer_cluster(*two);
  ASSERT_TRUE(quotas);
  EXPECT_EQ(quotas->vcs.size(), 2U);
  EXPECT_TRUE(quotas->lower_bound);
}

TEST(InferOtherLogs, ReadsNamesInOurOwnColumnOfNodes) {
  const TemporaryFolder folder;
  const auto own = trace::read_trace(
      folder.write("a.csv",
                   "job_id,submit_s,start_s,run_s,gpus,nodes,vc\n"
                   "1,0,0,100,4,n1,a\n2,0,0,100,4,\"n[2-3]\",a\n3,200,200,100,4,n1,b\n"));
  ASSERT_TRUE(own) << to_string(own.error());
  const auto named = infer_cluster(*own);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->nodes.size(), 3U);
  EXPECT_EQ(named->gpus(), 8);
  EXPECT_TRUE(named->takes_every_job) << "virtual clusters that share n1 are no borders";
}

TEST(ImpossibleJobs, AreNamed) {
  const TemporaryFolder folder;
  const auto trace = trace::read_trace(
      folder.write("a.csv",
                   "job_id,submit_s,start_s,run_s,gpus,node_list\n"
                   "1,0,0,100,8,m51\n2,0,0,100,8,m52\n3,0,0,100,1,m53\n4,0,0,100,1,m51\n"));
  ASSERT_TRUE(trace) << to_string(trace.error());
  auto machines = cluster::read_cluster(folder.write(
      "m.csv", "machineId, number of GPUs, single GPU mem\nm51,2, 12GB\nm52,8, 24GB\n"));
  ASSERT_TRUE(machines) << to_string(machines.error());
  note_impossible_jobs(*machines, *trace);
  EXPECT_THAT(
      machines->notes,
      testing::ElementsAre("1 job used more GPUs of its nodes than the cluster file lists: job "
                           "1 used 8 GPUs of m51, which has 2",
                           "1 job ran on nodes that are not in the cluster file, such as m53"));
}

TEST(ImpossibleJobs, AreNotThoseWhoseGpusMayBeSpreadUnevenly) {
  const TemporaryFolder folder;
  const auto notes_of = [&](int gpus) {
    const auto trace = trace::read_trace(folder.write(
        "a.csv",
        fmt::format("job_id,submit_s,start_s,run_s,gpus,node_list\n1,0,0,100,{},\"n[1-2]\"\n",
                    gpus)));
    auto machines = cluster::read_cluster(folder.write(
        "m.csv", "machineId, number of GPUs, single GPU mem\nn1,4, 12GB\nn2,8, 24GB\n"));
    EXPECT_TRUE(trace && machines);
    note_impossible_jobs(*machines, *trace);
    return machines->notes;
  };
  EXPECT_THAT(notes_of(12), testing::IsEmpty()) << "4 of n1 and 8 of n2";
  EXPECT_THAT(notes_of(14),
              testing::ElementsAre("1 job used more GPUs of its nodes than the cluster file lists: "
                                   "job 1 used 14 GPUs of 2 nodes, which have 12"));
}

TEST(SharesOfCluster, SayWhatPartOfAGpuJobsHold) {
  const TemporaryFolder folder;
  auto trace = trace::read_trace(
      folder.write("log",
                   "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList\n"
                   "1|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-05T09:00:00|3600|COMPLETED|"
                   "gres/shard=2|n1\n"));
  ASSERT_TRUE(trace) << to_string(trace.error());
  auto site =
      site::read_cluster(folder.write("slurm.conf", "NodeName=n1 CPUs=8 Gres=gpu:2,shard:16\n"));
  ASSERT_TRUE(site) << to_string(site.error());
  share_gpus_by(*site, *trace);
  EXPECT_FLOAT_EQ(trace->jobs.at(0).request.gpu_share, 0.25F);
  EXPECT_THAT(site->notes, testing::Contains(HasSubstr("1 job with shards or MPS")));
}

}  // namespace
}  // namespace almanac::experiment
