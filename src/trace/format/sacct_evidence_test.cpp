// SPDX-License-Identifier: Apache-2.0
//
// What sacct tells of how a job was scheduled.
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

TEST(SacctText, TakesHowSlurmScheduledAJob) {
  const TemporaryFolder folder;
  const auto read = read_trace(folder.write(
      "t",
      "JobID|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|State|Reason|Priority|Flags|"
      "Reservation|Constraints|Restarts|Planned|AllocTRES\n"
      "1|ann|lab|gpu|high|2024-01-01T00:00:00|2024-01-01T00:10:00|2024-01-01T00:11:00|60|COMPLETED|"
      "AssocGrpGRES|12345|SchedBackfill,StartReceived|course|a100&ib|2|00:03:00|gres/gpu=1\n"
      "2|ann|lab|gpu|high|2024-01-01T00:00:01|2024-01-01T00:10:00|2024-01-01T00:11:00|60|COMPLETED|"
      "None|0|SchedMain|||0|00:09:59|gres/gpu=1\n"));
  ASSERT_TRUE(read) << to_string(read.error());
  const Trace& trace = *read;
  const auto name = [](const Trace& of, NameId id) { return of.names[id]; };
  ASSERT_EQ(trace.jobs.size(), 2U);
  const Job& plain = trace.jobs[0];
  EXPECT_EQ(plain.outcome.reason, kNoName);
  EXPECT_EQ(plain.outcome.priority, 0);
  EXPECT_EQ(name(trace, plain.outcome.flags), "SchedMain");
  EXPECT_EQ(plain.request.submitted, kNoTime);
  const Job& job = trace.jobs[1];
  EXPECT_EQ(name(trace, job.request.account), "lab");
  EXPECT_EQ(name(trace, job.request.partition), "gpu");
  EXPECT_EQ(name(trace, job.request.reservation), "course");
  EXPECT_EQ(name(trace, job.request.constraints), "a100&ib");
  EXPECT_EQ(name(trace, job.outcome.reason), "AssocGrpGRES");
  EXPECT_EQ(name(trace, job.outcome.flags), "SchedBackfill,StartReceived");
  EXPECT_EQ(job.outcome.priority, 12345);
  EXPECT_EQ(job.outcome.attempts, 3);
  EXPECT_EQ(job.outcome.start - job.request.submit, 3min) << "Planned counts from Eligible";
  EXPECT_NE(job.request.submitted, kNoTime);
}

}  // namespace
}  // namespace almanac::trace
