// SPDX-License-Identifier: Apache-2.0
#include "trace/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Shares : public testing::Test {
 protected:
  /// Jobs that run from 8 to 9 on n1, one for each of `tres`.
  Trace read(const std::vector<std::string>& tres, const std::string& node = "n1") {
    std::string text = "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList\n";
    int id = 0;
    for (const std::string& each : tres) {
      text += std::to_string(++id) +
              "|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-05T09:00:00|3600|COMPLETED|" +
              each + "|" + node + "\n";
    }
    auto trace = read_trace(folder_.write("log", text));
    EXPECT_TRUE(trace) << to_string(trace.error());
    return trace ? std::move(*trace) : Trace{};
  }
  TemporaryFolder folder_;
};

TEST_F(Shares, ArePartsOfGpusAndNoCpuJobs) {
  const Trace trace = read({"cpu=8,gres/shard=2", "cpu=8,gres/gpu=0,gres/shard:a100=2", "cpu=4"});
  EXPECT_EQ(trace.jobs.at(0).request.gpus, 1);
  EXPECT_FLOAT_EQ(trace.jobs.at(0).request.gpu_share, 0.5F) << "four were held at once on n1";
  EXPECT_EQ(trace.jobs.at(1).request.gpus, 1);
  EXPECT_EQ(trace.names[trace.jobs.at(1).request.gpu_type], "a100");
  EXPECT_EQ(trace.jobs.at(2).request.gpus, 0);
  EXPECT_THAT(trace.notes,
              Contains(HasSubstr("2 jobs hold shards: the log does not say how many make a GPU")));
  EXPECT_THAT(trace.notes, Not(Contains(HasSubstr("AccountingStorageTRES"))));
}

TEST_F(Shares, AreToldByJobsThatHoldWholeGpusAndTheirShards) {
  const Trace trace = read({"gres/gpu=2,gres/shard=16", "gres/shard=2", "gres/shard=12"});
  EXPECT_EQ(trace.jobs.at(0).request.gpus, 2);
  EXPECT_EQ(trace.jobs.at(0).request.shards, 0);
  EXPECT_FLOAT_EQ(trace.jobs.at(1).request.gpu_share, 0.25F);
  EXPECT_EQ(trace.jobs.at(2).request.gpus, 2) << "more than one GPU has";
  EXPECT_THAT(trace.notes,
              Contains(HasSubstr("8 shards per GPU, according to jobs that use both")));
}

TEST_F(Shares, OfMpsAreHundredths) {
  const Trace trace = read({"gres/mps=50", "gres/mps:v100=200,gres/mps=200"});
  EXPECT_FLOAT_EQ(trace.jobs.at(0).request.gpu_share, 0.5F);
  EXPECT_EQ(trace.jobs.at(1).request.gpus, 2);
}

TEST_F(Shares, WithoutNodesAreNoMoreThanAGpu) {
  const Trace trace = read({"gres/shard=2", "gres/shard=4"}, "");
  EXPECT_FLOAT_EQ(trace.jobs.at(0).request.gpu_share, 0.5F);
  EXPECT_FLOAT_EQ(trace.jobs.at(1).request.gpu_share, 1);
}

TEST_F(Shares, FollowAClusterThatTellsThem) {
  Trace trace = read({"gres/shard=2", "gres/gpu=1"});
  EXPECT_EQ(share_gpus(trace, [](const Job&) { return PartsPerGpu{.shards = 8, .mps = 0}; }), 1);
  EXPECT_FLOAT_EQ(trace.jobs.at(0).request.gpu_share, 0.25F);
  EXPECT_EQ(trace.jobs.at(1).request.gpus, 1);
}

}  // namespace
}  // namespace almanac::trace
