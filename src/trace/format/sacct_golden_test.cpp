// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a real Slurm recorded is the same log as text and as JSON.
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support/shared_data.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

std::map<std::string, const Job*> by_id(const Trace& trace) {
  std::map<std::string, const Job*> jobs;
  for (const Job& job : trace.jobs) jobs[trace.id(job.id)] = &job;
  return jobs;
}

TEST(SacctGolden, TextAndJsonAreTheSameLog) {
  const auto root = shared_path("golden/slurm");
  if (!root) GTEST_SKIP() << "golden/slurm is absent";
  int logs = 0;
  for (const auto& each : std::filesystem::directory_iterator(*root)) {
    if (!std::filesystem::exists(each.path() / "sacct.json.gz")) continue;
    ++logs;
    const Result<Trace> text = read_trace((each.path() / "sacct.txt").string());
    const Result<Trace> json = read_trace((each.path() / "sacct.json.gz").string());
    ASSERT_TRUE(text) << to_string(text.error());
    ASSERT_TRUE(json) << to_string(json.error());
    const auto ours = by_id(*text);
    const auto theirs = by_id(*json);
    ASSERT_EQ(ours.size(), theirs.size()) << each.path();
    for (const auto& [id, job] : ours) {
      const auto found = theirs.find(id);
      ASSERT_NE(found, theirs.end()) << each.path() << " job " << id;
      EXPECT_EQ(job->request.submit, found->second->request.submit) << each.path() << id;
      EXPECT_EQ(job->request.gpus, found->second->request.gpus) << each.path() << id;
      EXPECT_EQ(job->outcome.start, found->second->outcome.start) << each.path() << id;
      EXPECT_EQ(job->outcome.end, found->second->outcome.end) << each.path() << id;
    }
  }
  EXPECT_GE(logs, 14);
}

}  // namespace
}  // namespace almanac::trace
