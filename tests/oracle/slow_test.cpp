// SPDX-License-Identifier: Apache-2.0

/// \file
/// The engine and a slow second implementation give the same schedule, GPU counts by node included.
#include "oracle/slow.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/read_toml.h"
#include "policy/registry.h"
#include "support/draft.h"
#include "support/rules.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::oracle {
namespace {

void expect_equal(const Draft& draft, const DraftLimits& limits, const std::string& policy,
                  Rule rule) {
  const Case input = to_case(draft, limits);
  Result<policy::Composition> composition = policy::registry().compose(policy);
  RC_ASSERT(composition.has_value());
  if (composition->order == "las") {
    composition->order.told["queues_gpu_s"] = {static_cast<double>(kLasThresholdGpuSeconds)};
  }
  const Result<Played> played = play(input, *composition);
  RC_ASSERT(played.has_value());
  const std::string ours = "\n" + runs_text(input, played->runs);
  RC_ASSERT(ours == "\n" + runs_text(input, slow_runs(input, rule)));
}

RC_GTEST_PROP(Fifo, IsWhatTheSlowOneDoes, ()) { expect_equal(*drafts(), {}, "fifo", Rule::fifo); }

RC_GTEST_PROP(Sjf, IsWhatTheSlowOneDoes, ()) { expect_equal(*drafts(), {}, "sjf", Rule::sjf); }

RC_GTEST_PROP(GpuTime, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(), {}, "qssf+oracle", Rule::gpu_time);
}

RC_GTEST_PROP(Srtf, IsWhatTheSlowOneDoes, ()) { expect_equal(*drafts(), {}, "srtf", Rule::srtf); }

RC_GTEST_PROP(Las, IsWhatTheSlowOneDoes, ()) { expect_equal(*drafts(), {}, "las", Rule::las); }

RC_GTEST_PROP(Easy, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(), {}, "easy+oracle", Rule::easy);
}

RC_GTEST_PROP(EasyWithShortestFirst, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(), {}, "sjf+easy", Rule::sjf_easy);
}

RC_GTEST_PROP(Conservative, IsWhatTheSlowOneDoesOnOneNode, ()) {
  const DraftLimits limits{.nodes = 1, .shortest_run = 1};
  expect_equal(*drafts(limits), limits, "conservative+oracle", Rule::conservative);
}

const DraftLimits kCores{.cores = true};

RC_GTEST_PROP(FifoWithCores, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kCores), kCores, "fifo", Rule::fifo);
}

RC_GTEST_PROP(SjfWithCores, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kCores), kCores, "sjf", Rule::sjf);
}

RC_GTEST_PROP(GpuTimeWithCores, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kCores), kCores, "qssf+oracle", Rule::gpu_time);
}

RC_GTEST_PROP(SrtfWithCores, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kCores), kCores, "srtf", Rule::srtf);
}

RC_GTEST_PROP(LasWithCores, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kCores), kCores, "las", Rule::las);
}

RC_GTEST_PROP(EasyWithCores, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kCores), kCores, "easy+oracle", Rule::easy);
}

RC_GTEST_PROP(ShortestFirstWithCores, IsWhatTheSlowOneDoesWithBackfill, ()) {
  expect_equal(*drafts(kCores), kCores, "sjf+easy", Rule::sjf_easy);
}

RC_GTEST_PROP(ConservativeWithCores, IsWhatTheSlowOneDoesOnOneNode, ()) {
  const DraftLimits limits{.nodes = 1, .shortest_run = 1, .cores = true};
  expect_equal(*drafts(limits), limits, "conservative+oracle", Rule::conservative);
}

const DraftLimits kParts{.gpus = 4, .parts = true};
const DraftLimits kPartsAndCores{.gpus = 4, .cores = true, .parts = true};

RC_GTEST_PROP(FifoWithParts, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kParts), kParts, "fifo", Rule::fifo);
  expect_equal(*drafts(kPartsAndCores), kPartsAndCores, "fifo", Rule::fifo);
}

RC_GTEST_PROP(GpuTimeWithParts, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kPartsAndCores), kPartsAndCores, "qssf+oracle", Rule::gpu_time);
}

RC_GTEST_PROP(SrtfWithParts, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kParts), kParts, "srtf", Rule::srtf);
  expect_equal(*drafts(kPartsAndCores), kPartsAndCores, "srtf", Rule::srtf);
}

RC_GTEST_PROP(LasWithParts, IsWhatTheSlowOneDoes, ()) {
  expect_equal(*drafts(kPartsAndCores), kPartsAndCores, "las", Rule::las);
}

// A real mix: 150 GPU jobs and 450 CPU jobs on nodes that are short of cores.
TEST(CodaWorkload, IsScheduledAsTheSlowOneDoes) {
  const auto preset = trace::parse_workload(*trace::preset("coda"), "coda.toml");
  ASSERT_TRUE(preset) << to_string(preset.error());
  Case input;
  input.trace = trace::generate(trace::stretched(*preset, 150), 1);
  input.cluster = cluster::parse_toml(*trace::preset("coda_cluster"), "coda_cluster.toml").value();
  input.options.timeline_interval = 10min;
  for (const auto& [policy, rule] :
       {std::pair{"fifo", Rule::fifo}, {"srtf", Rule::srtf}, {"easy+oracle", Rule::easy}}) {
    input.policy = policy;
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(runs_text(input, played->runs), runs_text(input, slow_runs(input, rule))) << policy;
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << policy;
    EXPECT_GT(played->runs.size(), 599U) << policy;
  }
}

RC_GTEST_PROP(HeliosSrtf, IsWhatThePublishedSimulatorDoes, ()) {
  const Draft draft = *drafts();
  Case input = to_case(draft);
  input.policy = "srtf";
  input.profile = "helios";
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  const std::string ours = "\n" + runs_text(input, played->runs);
  RC_ASSERT(ours == "\n" + runs_text(input, slow_runs(input, Rule::helios_srtf)));
}

}  // namespace
}  // namespace almanac::oracle
