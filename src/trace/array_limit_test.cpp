// SPDX-License-Identifier: Apache-2.0
#include "trace/array_limit.h"

#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"
#include "trace/write.h"

namespace almanac::trace {
namespace {

TEST(ArrayLimit, IsThatOfTheTasksOrOfTheFirstArrayOptionOfALine) {
  EXPECT_EQ(array_limit_of_tasks("0-9%2"), 2);
  EXPECT_EQ(array_limit_of_tasks("51_[4-12%13]"), 13);
  EXPECT_EQ(array_limit_of_tasks("0-9"), 0);
  EXPECT_EQ(array_limit_of_line("sbatch -J a --array=1-9%4 job.sh -a 1%7"), 4);
  EXPECT_EQ(array_limit_of_line("sbatch  -a 1-9%3 job.sh"), 3);
  EXPECT_EQ(array_limit_of_line("sbatch -a1-9%5 job.sh"), 5);
  EXPECT_EQ(array_limit_of_line("sbatch --array 1-9 job.sh"), 0);
  EXPECT_EQ(array_limit_of_line("sbatch --array-like=1%2 job.sh"), 0);
}

TEST(ArrayLimit, IsThatOfPendingTasksRatherThanOfTheOlderSubmitLine) {
  Trace trace;
  for (const char* const id : {"51_1", "51_2", "52_1", "52_[2-9%3]", "53_1", "54", "55_1"}) {
    Job& job = trace.jobs.emplace_back();
    job.id = trace.key(id);
    if (std::string_view(id).starts_with("51") || std::string_view(id) == "55_1") continue;
    job.request.submit_line = trace.names.intern("sbatch -a 1-9%4 job.sh");
  }
  trace.jobs[0].request.submit_line = trace.names.intern("sbatch -a 1-9%5 job.sh");
  find_array_limits(trace);
  EXPECT_EQ(trace.jobs[1].request.array_limit, 5) << "stated by another task";
  EXPECT_EQ(trace.jobs[2].request.array_limit, 3) << "changed after submission";
  EXPECT_EQ(trace.jobs[3].request.array_limit, 3);
  EXPECT_EQ(trace.jobs[4].request.array_limit, 4);
  EXPECT_EQ(trace.jobs[5].request.array_limit, 0) << "no task";
  EXPECT_EQ(trace.jobs[6].request.array_limit, 0) << "nothing states one";
}

TEST(ArrayLimit, IsKeptInOurOwnCsvWhichHasNoSubmitLine) {
  const TemporaryFolder folder;
  std::ofstream(folder / "sacct.txt")
      << "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES|SubmitLine\n"
         "51_1|2026-11-01T00:00:00|2026-11-01T00:00:00|2026-11-01T00:01:40|100|COMPLETED|"
         "gres/gpu=1|sbatch --array=1-2%1 job.sh\n"
         "51_2|2026-11-01T00:00:00|2026-11-01T00:01:40|2026-11-01T00:03:20|100|COMPLETED|"
         "gres/gpu=1|sbatch --array=1-2%1 job.sh\n";
  const auto log = read_trace(folder / "sacct.txt");
  ASSERT_TRUE(log) << to_string(log.error());
  ASSERT_TRUE(save_trace(*log, folder / "log.csv", "csv"));
  const auto again = read_trace(folder / "log.csv");
  ASSERT_TRUE(again) << to_string(again.error());
  ASSERT_EQ(again->jobs.size(), 2U);
  EXPECT_EQ(again->jobs[0].request.submit_line, kNoName);
  EXPECT_EQ(again->jobs[0].request.array_limit, 1);
  EXPECT_EQ(again->jobs[1].request.array_limit, 1);
}

}  // namespace
}  // namespace almanac::trace
