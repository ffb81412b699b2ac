// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/shared_data.h"
#include "support/temporary_folder.h"
#include "trace/read.h"
#include "trace/summary.h"
#include "trace/write.h"

namespace almanac::trace {
namespace {

using testing::HasSubstr;

/// A real log, what it is and what is known of it from the page that describes it.
struct File {
  const char* path;
  const char* format;
  std::int64_t jobs;
  std::int64_t gpu_jobs;
};

class TraceFile : public testing::TestWithParam<File> {
 protected:
  void SetUp() override {
    const auto found = shared_path(std::string("data/traces/") + GetParam().path);
    if (!found) GTEST_SKIP() << "the real trace " << GetParam().path << " is not at hand";
    path_ = *found;
  }
  std::string path_;
};

TEST_P(TraceFile, IsReadStrictly) {
  const auto trace = read_trace(path_);
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->format, GetParam().format);
  const Summary summary = summarize(*trace);
  EXPECT_EQ(summary.jobs, GetParam().jobs);
  EXPECT_EQ(summary.gpu_jobs, GetParam().gpu_jobs);
  EXPECT_TRUE(std::is_sorted(
      trace->jobs.begin(), trace->jobs.end(),
      [](const Job& a, const Job& b) { return a.request.submit < b.request.submit; }));
}

TEST_P(TraceFile, IsTheSameAfterConversion) {
  const auto trace = read_trace(path_);
  ASSERT_TRUE(trace) << to_string(trace.error());
  const TemporaryFolder folder;
  ASSERT_TRUE(save_trace(*trace, folder / "t.csv.zst"));
  const auto again = read_trace(folder / "t.csv.zst");
  ASSERT_TRUE(again) << to_string(again.error());
  ASSERT_EQ(again->jobs.size(), trace->jobs.size());
  for (std::size_t i = 0; i < trace->jobs.size(); ++i) {
    const Job& a = trace->jobs[i];
    const Job& b = again->jobs[i];
    ASSERT_EQ(trace->id(a.id), again->id(b.id));
    ASSERT_EQ(a.request.submit, b.request.submit);
    ASSERT_EQ(a.outcome.run, b.outcome.run);
    ASSERT_EQ(a.outcome.start, b.outcome.start);
    ASSERT_EQ(a.outcome.state, b.outcome.state);
    ASSERT_EQ(a.request.gpus, b.request.gpus);
    ASSERT_EQ(a.request.gpu_share, b.request.gpu_share);
    ASSERT_EQ(trace->names[a.request.user], again->names[b.request.user]);
    ASSERT_EQ(trace->names[a.request.vc], again->names[b.request.vc]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, TraceFile,
    testing::Values(
        File{"helios_venus_log_2020-05-27_to_06-17.csv.gz", "helios", 15'000, 10'796},
        File{"helios_venus_gpu_2020-03_to_08.csv.gz", "helios", 99'707, 99'707},
        File{"philly_2017-08_to_11.csv.gz", "philly-csv", 99'026, 99'026},
        File{"tacc_ls6_a100_2022-10_to_2023-01.csv.gz", "tacc", 12'846, 12'846},
        File{"alibaba_openb_2023/openb_pod_list_default.csv.gz", "openb", 8'152, 7'064},
        File{"alibaba_openb_2023/openb_pod_list_gpushare100.csv.gz", "openb", 8'152, 7'064},
        File{"alibaba_openb_2023/openb_pod_list_multigpu50.csv.gz", "openb-requests", 9'061, 7'973},
        File{"swf/NASA-iPSC-1993-3.1-cln.swf.gz", "swf", 18'239, 18'239}),
    [](const auto& test) {
      std::string name = test.param.path;
      std::replace_if(
          name.begin(), name.end(),
          [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
      return name;
    });

class ClusterFile : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ClusterFile, IsNamedForWhatItIs) {
  const auto [name, what] = GetParam();
  const auto path = shared_path(std::string("data/traces/") + name);
  if (!path) GTEST_SKIP() << "the real file " << name << " is not at hand";
  const auto trace = read_trace(*path);
  ASSERT_FALSE(trace);
  EXPECT_THAT(to_string(trace.error()), HasSubstr(what));
  EXPECT_THAT(to_string(trace.error()), HasSubstr("pass it as --cluster"));
}

INSTANTIATE_TEST_SUITE_P(
    Shared, ClusterFile,
    testing::Values(std::pair{"helios_venus_vc_gpus_per_day.csv", "Helios per-day VC table"},
                    std::pair{"philly_machine_list.csv", "Philly machine list"},
                    std::pair{"philly_vc_nodes.csv", "Philly VC table"},
                    std::pair{"alibaba_openb_2023/openb_node_list_all_node.csv", "openb node list"},
                    std::pair{"alibaba_openb_2023/openb_node_list_gpu_node.csv",
                              "openb node list"}));

}  // namespace
}  // namespace almanac::trace
